import java.nio.file.Path;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** Runs Neo4j with Bolt in this process until its standard input ends, so that it never outlives its parent. */
public class Serve {
    public static void main(String[] args) throws Exception {
        var server = new DatabaseManagementServiceBuilder(Path.of(args[0]))
                .loadPropertiesFromFile(Path.of(args[1]))
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown));
        System.out.println("ready");
        while (System.in.read() != -1) {
            // Nothing is ever sent; only the end of the stream counts.
        }
        System.exit(0);
    }
}
