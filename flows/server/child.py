"""The server's side of flows/server/temporary.py: Prefect's API on the port that is told."""

import gc
import sys


def main() -> None:
    """Serve until a signal ends it."""
    import uvicorn
    from prefect.server.api.server import create_app

    # What the imports made stays; a collector that knows it not has less to look at.
    gc.freeze()
    gc.enable()
    uvicorn.run(create_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="critical", lifespan="on")


if __name__ == "__main__":
    gc.disable()
    main()
