"""Verdicts as a JUnit report, which CI systems show as tests."""

import xml.etree.ElementTree as Tree
from collections.abc import Sequence

from retrieval.checks.rendering import say_failure
from schemas.checks import Verdict
from schemas.redaction import one_line


def render_junit(verdicts: Sequence[Verdict], *, generation: int) -> str:
    """Return one suite with a test for each question; a failure says what is not met, and what stands there.

    Source: the schema that Jenkins and GitLab read, github.com/testmoapp/junitxml.
    """
    failed = sum(not one.passed for one in verdicts)
    totals = {"tests": str(len(verdicts)), "failures": str(failed), "errors": "0"}
    suites = Tree.Element("testsuites", {"name": "sitegraph check", **totals})
    suite = Tree.SubElement(suites, "testsuite", {"name": f"generation {generation}", **totals})
    for one in verdicts:
        name, place = one_line(one.check.id), one.check.where.partition(":")[0] or "checks"
        case = Tree.SubElement(suite, "testcase", {"classname": place, "name": name})
        if not one.passed:
            lines = [say_failure(finding) for finding in one.failures]
            failure = Tree.SubElement(case, "failure", {"message": lines[0]})
            near = [f"+ {f.passage.text} ({f.passage.citation})" for f in one.failures if f.passage]
            failure.text = "\n".join(map(one_line, (one.check.question, *lines, *near)))
    Tree.indent(suites)
    return Tree.tostring(suites, encoding="unicode", xml_declaration=True)
