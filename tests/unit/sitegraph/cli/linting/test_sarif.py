"""The SARIF log: what the standard and GitHub's code scanning ask of it."""

from retrieval.lint.catalogue import RULES
from retrieval.lint.site import LintFinding, LintPlace, Severity
from sitegraph.actions.lint_report import FINGERPRINT, MOST, sarif_of

RULE_IDS = tuple(RULES)


def finding(*places: LintPlace, rule: str = "dead-link", key: str = "k") -> LintFinding:
    return LintFinding(rule=rule, severity=Severity.WARNING, message="m", places=places, key=(key,))


FILE = LintPlace(
    source="s",
    uri="file:///s/guide/set up.md",
    path="guide/set up.md",
    line=12,
    heading_path=("Guide", "Set up"),
    text="It waits 30 seconds.",
)
PAGE = LintPlace(source="s", uri="https://e.org/a.html", url="https://e.org/a.html", fragment="wait")
PRINTED = LintPlace(source="s", uri="https://e.org/a.pdf", url="https://e.org/a.pdf", page_no=3)


def test_a_file_is_a_relative_path_with_a_line_and_a_page_is_its_address() -> None:
    (run,) = sarif_of([finding(FILE, PAGE, PRINTED)], rules=RULE_IDS)["runs"]
    (result,) = run["results"]

    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "guide/set%20up.md"},
                "region": {"startLine": 12, "snippet": {"text": "It waits 30 seconds."}},
            },
            "logicalLocations": [{"fullyQualifiedName": "Guide > Set up"}],
        }
    ]
    others = [one["physicalLocation"]["artifactLocation"]["uri"] for one in result["relatedLocations"]]
    assert others == ["https://e.org/a.html#wait", "https://e.org/a.pdf#page=3"]
    assert [one["id"] for one in result["relatedLocations"]] == [1, 2]


def test_each_result_names_its_rule_by_id_and_by_place_and_carries_its_fingerprint() -> None:
    one = finding(PAGE, rule="orphan")
    (run,) = sarif_of([one], rules=("dead-link", "orphan"))["runs"]
    (result,) = run["results"]

    rules = run["tool"]["driver"]["rules"]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "orphan"
    assert result["partialFingerprints"] == {FINGERPRINT: one.fingerprint}
    assert all(rule["help"]["text"] and rule["shortDescription"]["text"] for rule in rules)


def test_a_log_holds_no_more_results_than_github_shows() -> None:
    many = [finding(PAGE, key=str(number)) for number in range(MOST + 1)]

    (run,) = sarif_of(many, rules=RULE_IDS)["runs"]

    assert len(run["results"]) == MOST


def test_a_clean_site_has_a_log_without_results() -> None:
    log = sarif_of([], rules=RULE_IDS)

    assert log["version"] == "2.1.0"
    assert log["runs"][0]["results"] == []
