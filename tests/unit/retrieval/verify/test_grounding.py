"""What a passage bears out: a number in another form is the same, a similar sentence with another is not."""

import pytest

from retrieval.verify.clauses import split_clauses, split_sentences
from retrieval.verify.grounding import GroundingFaultKind, check_sentence
from retrieval.verify.near_copy import other_time
from retrieval.verify.polarity import opposite_bounds


def kinds(sentence: str, passage: str) -> list[GroundingFaultKind]:
    return [fault.kind for fault in check_sentence(sentence, passage)]


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        ("It holds 1000 rows.", "It holds 1,000 rows."),
        ("It holds 12,500 rows.", "It holds 12 500 rows.".replace(" 5", "\u202f5")),
        ("The rate is 1.8%.", "The rate is 1.8 percent."),
        ("The rate is 1.8 %.", "The rate is 1,8 % today."),
        ("Three copies are kept.", "It keeps 3 copies."),
        ("It keeps 25 copies.", "Twenty-five copies are kept."),
        ("It costs 3 million euros.", "It costs €3,000,000."),
        ("It waits for 90 seconds.", "The wait is 1.5 minutes."),
        ("It waits for an hour and a half.", "It waits for 90 minutes."),
        ("Logs stay for two weeks.", "Logs stay for 14 days."),
        ("A two-year contract is needed.", "The contract runs for 24 months."),
        ("The file may have 2 GB.", "The file may have 2,000 MB."),
        ("It weighs half as much, 0.5 kg.", "It weighs 500 g."),
        ("It runs at 100 km/h.", "It runs at 100 kilometres per hour."),
        ("The yield is 72 to 78 %.", "The yield is between 72 % and 78 %."),
        ("It waits half an hour.", "It waits 30 minutes."),
        ("It is called twice.", "It is called two times."),
        ("The plan costs €12 a month.", "The plan costs €12 per user and month."),
        ("It runs at -5 °C.", "It runs at −5 °C."),
        ("Users get a dozen keys.", "Users get 12 keys."),
        ("The limit is 1.000 rows.", "The limit is 1,000 rows."),
        ("A field may have 500,000 bytes.", "The limit of a field in bytes. Default: 500_000"),
        ("The programme went from 9 to 10.", "It filled the slot from 09:00 to 10:00."),
        ("It speaks version 2 of the protocol.", "It speaks the v2 protocol."),
    ],
)
def test_the_same_number_in_another_form_is_the_same(sentence: str, passage: str) -> None:
    assert kinds(sentence, passage) == []


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        ("It holds 100 rows.", "It holds 1,000 rows."),
        ("It waits 30 minutes.", "It waits 30 seconds."),
        ("It waits half an hour.", "It waits 30 seconds."),
        ("The rate is 18 %.", "The rate is 1.8 %."),
        ("Four copies are kept.", "It keeps 3 copies."),
        ("The pressure is 50 bar.", "The pressure is 50 mbar."),
        ("It costs $40.", "It costs €40."),
        ("It runs at 100 mph.", "It runs at 100 km/h."),
        ("It weighs 5 kg.", "It weighs 5 mg."),
        ("Data are kept for a day.", "Data are kept for 30 days."),
        ("It runs at 5 °C.", "It runs at −5 °C."),
        ("It has 1 GB.", "It has 1 GiB."),
        ("It has 1.299 million members.", "It has 1.299 billion members."),
    ],
)
def test_another_number_or_unit_is_not_support(sentence: str, passage: str) -> None:
    assert kinds(sentence, passage) == [GroundingFaultKind.NUMBER]


@pytest.mark.parametrize(
    "written",
    ["2023-09-14", "14 September 2023", "September 14, 2023", "14.09.2023", "Sept 14th, 2023", "9/14/2023"],
)
def test_a_date_is_the_same_in_every_form(written: str) -> None:
    for other in ("2023-09-14", "September 14, 2023", "the 14th of September 2023"):
        assert kinds(f"It was released on {written}.", f"The release came on {other}.") == []
        assert kinds(f"It was released on {written}.", "The release came on 15 September 2023.") == [
            GroundingFaultKind.DATE
        ]


def test_a_date_may_say_less_than_the_passage_and_not_more() -> None:
    assert kinds("It ended in March 2024.", "It ended on 1 March 2024.") == []
    assert kinds("It ended in 2024.", "It ended on 1 March 2024.") == []
    assert kinds("It ended on 1 March 2024.", "It ended in March 2024.") == [GroundingFaultKind.DATE]


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        ("The flag --lenient was removed.", "The option was removed."),
        ("Error E04 is raised.", "Error E05 is raised."),
        ("It came with release 2.3.1.", "It came with release 2.3.10."),
        ("It is stored in Redis.", "It is stored in PostgreSQL."),
        ("It listens on 10.0.0.1 always.", "It listens on 10.0.0.11 always."),
        ("Jobs start at 22:00.", "Jobs start at 23:00."),
        ("Set max_wal_size to change it.", "Set min_wal_size to change it."),
        ("Sentinel Labs wrote it.", "Copper Labs wrote it."),
        ("The lamp is green.", "The lamp is red."),
    ],
)
def test_an_identifier_or_name_that_is_not_there_is_not_support(sentence: str, passage: str) -> None:
    assert kinds(sentence, passage) == [GroundingFaultKind.NAME]


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        ("The European Union decides.", "It is decided by the EUROPEAN UNION."),
        ("The EU decides.", "It is decided by the European Union."),
        ("It offers three APIs.", "There are three: an API for each."),
        ("Restart the worker.", "The worker has to be restarted."),
        ("Tessel's parser is fast.", "The parser of Tessel is fast."),
        ("He went into exile in Russia.", "He followed him to the Russian Empire."),
        ("The Italian coast is near.", "The coast of Italy is near."),
        ("It follows ISO\u20118601.", "It follows ISO-8601."),
    ],
)
def test_names_are_compared_folded(sentence: str, passage: str) -> None:
    assert kinds(sentence, passage) == []


def test_a_word_that_opens_a_sentence_before_a_name_is_no_name() -> None:
    passage = "Following the refusal of Orla Finch to resign, the board dismissed her."
    assert kinds("Since Orla Finch would not resign, the board dismissed her.", passage) == []
    assert kinds("Sina Orla Finch was dismissed.", passage) == [GroundingFaultKind.NAME]
    assert kinds("Use CREATE CLASS to fill it.", "Fill it by CREATE CLASS commands.") == []


def test_a_year_may_be_annual() -> None:
    assert kinds("No more than 300 are born in a year.", "Annual numbers are 300 or fewer.") == []
    assert kinds("No more than 300 are born in a month.", "Annual numbers are 300 or fewer.") == [
        GroundingFaultKind.NUMBER
    ]


def test_a_first_word_is_a_name_where_other_evidence_has_it_as_one() -> None:
    assert check_sentence("Tallow keeps the logs.", "The archive keeps the logs.") == ()
    found = check_sentence("Tallow keeps the logs.", "The archive keeps the logs.", known={"Tallow"})
    assert [fault.kind for fault in found] == [GroundingFaultKind.NAME]


def test_a_quotation_must_stand_there_word_for_word() -> None:
    passage = 'The server answers "lease has expired" and closes the connection.'
    assert kinds('It says "Lease has  expired".', passage) == []
    assert kinds('It says "lease was lost".', passage) == [GroundingFaultKind.QUOTE]


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        ("The cache is cleared on restart.", "The cache is not cleared on restart."),
        ("The cache is not cleared on restart.", "The cache is cleared on restart."),
        ("The pump can be run dry.", "Never run the pump dry."),
        ("Writers can't read during a merge.", "Writers can read during a merge."),
        ("The check is enabled by default.", "The check is disabled by default."),
        ("Guests are allowed to upload files.", "Guests are forbidden to upload files."),
        ("The valve is open during the test.", "The valve is closed during the test."),
        ("The lock is taken after the write.", "The lock is taken before the write."),
        ("First class may be booked without approval.", "First class requires approval."),
        (
            "The alarm can be switched off with the key.",
            "The key mutes the alarm; it cannot be switched off.",
        ),
        ("The index can be built inside a transaction.", "The index must not be built inside a transaction."),
        ("Backups are always encrypted.", "Backups are never encrypted."),
        ("Acetone may be used.", "Ethanol may be used. Acetone is unsuitable."),
        ("Large requests are cached.", "Large requests bypass the cache."),
        ("Backups are optional before an upgrade.", "Backups are required before an upgrade."),
        (
            "The word FLUSH is optional in the standard.",
            "The standard specifies that the word FLUSH is mandatory, but Orchid allows it to be omitted.",
        ),
        (
            "The locks are not held for the minimum of time.",
            "The locks are held only for the minimum of time that is needed.",
        ),
        ("The config OLD_NAME was not removed.", "OLD_NAME and OLD_PATH config was removed."),
        (
            "The default behaviour is not to check each entry.",
            "The default behaviour (without this option) is to check each entry.",
        ),
        ("If the file is -, standard output is used.", "If the file is - then standard input is used."),
        (
            "The setup will happen outside the function.",
            "Any other setup will happen inside the function, then the result of the setup will be returned.",
        ),
        (
            "In the console you are triggering a request.",
            "The main issue with the console is that you are not triggering a request.",
        ),
        ("Major releases will be frequent.", "Major releases will be infrequent and need reasons."),
        ("The parser knows the flag as a known one.", "The flag is an unknown one to the parser."),
        ("It keeps stale entries of the lock table.", "It also removes stale entries of the lock table."),
        ("The call will not fail if a token is missing.", "If a token is missing, the call will fail."),
        ("The argument that names the module is optional.", "The only required argument names the module."),
    ],
)
def test_the_opposite_is_not_support(sentence: str, passage: str) -> None:
    assert GroundingFaultKind.OPPOSITE in kinds(sentence, passage)


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        ("Autofocus does not work with the adapter.", "Autofocus is disabled with the adapter."),
        ("The session stays open.", "The peer does not close the session."),
        ("At most ten days may be carried over.", "No more than 10 days may be carried over."),
        ("Files over 2 GB are refused.", "Files must not be larger than 2 GB."),
        ("Only one writer is allowed.", "Two writers must never be there at the same time."),
        ("The unit must not be used without a battery.", "Do not use the unit without a battery."),
        ("The door must stay shut.", "Do not open the door."),
        ("Large requests are not cached.", "Large requests bypass the cache."),
        ("You can delete a copy without harming others.", "Deleting a copy never affects others."),
        ("It stores nothing but blocks that changed.", "Only blocks that changed are stored."),
        (
            "A rewritten line weighs less than a new one.",
            "A rewritten line is not counted as much as a new one.",
        ),
        ("It had hardly any users before 2019.", "Before 2019, with hardly any users, it was a hobby."),
        (
            "The folder list has no entry for itself, nor for the log files needed to read it.",
            "No entries are in this list for the log files that are needed, or for the folder list itself.",
        ),
        (
            "You do not need to know the low-level interface unless you write plugins in C.",
            "This section describes the low-level interface of a plugin. It is needed only when writing "
            "plugins in C.",
        ),
        (
            "Without such an entry the coercion is done in two steps.",
            "If there is an entry, coercion takes a single step. When no such entry is available, coercion "
            "to a type involves two steps.",
        ),
        (
            "The cursor's query is not executed before OPEN.",
            "Whereas the latter executes a query, here execution happens when a cursor is opened with OPEN.",
        ),
        ("With None there is no limit for a field.", "If it is None, no limit is enforced for a field."),
        (
            "No other player led both clubs of Aston.",
            "He became the only player to lead both clubs of Aston.",
        ),
        ("It can be deleted by nobody but its owner.", "Only its owner can delete it."),
        (
            "It is mostly better not to write plugins in C.",
            "In most cases you should consider a script before writing your plugins in C.",
        ),
        (
            "In Orchid the word FLUSH may be left out, although the standard requires it.",
            "The standard specifies that the word FLUSH is mandatory, but Orchid allows it to be omitted.",
        ),
        (
            "Long names are prohibited so that no file is overwritten.",
            "The prohibition of long names prevents overwriting a file.",
        ),
        (
            "For ports 80 and 443 put a proxy, for instance Relay, in front.",
            "This means it will not be possible to bind to port 80 or 443. Instead, a proxy such as Relay "
            "should be used.",
        ),
    ],
)
def test_the_same_said_with_another_negation_is_support(sentence: str, passage: str) -> None:
    assert kinds(sentence, passage) == []


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        (
            "Lee retired from the US Navy as a Rear Admiral.",
            "Ann Lee is a retired United States Navy Rear Admiral, who served in the NATO staff.",
        ),
        (
            "Another LLV provider can be chosen without compiling Orchid again.",
            "The interface to the LLV provider is pluggable and the provider can be changed without "
            "recompiling Orchid. The active provider is chosen via the setting llv_provider.",
        ),
        (
            "She died in New Aston City in the summer of 1992.",
            "Orla Finch (1898 – July 12, 1992 in New Aston City) was a painter.",
        ),
        (
            "July is the warmest month in Astria, February the coldest.",
            "Astria > Climate\nIt has 18 °C inland in July, the warmest month, and −7 °C on the Bal islands "
            "in February, the coldest month.",
        ),
        (
            "Inland, it has 18.1 °C on average in July and −7.6 °C in February.",
            "Average temperatures range from 16.3 °C on the Bal islands to 18.1 °C inland in July, the "
            "warmest month, and from −3.5 °C on the Bal islands to −7.6 °C inland in February.",
        ),
        (
            "If no rows come back from the query, the column is set to NULL.",
            "If it yields no rows, NULL goes to the columns. If used in a MATCHED clause, the query can "
            "refer to values from the original row in the table.",
        ),
    ],
)
def test_the_same_in_other_words_is_not_said_of_another_thing(sentence: str, passage: str) -> None:
    assert kinds(sentence, passage) == []


def test_more_than_is_not_less_than() -> None:
    passage = "It is for homes that use less than 2,500 kWh a year."
    assert kinds("It is for homes that use more than 2,500 kWh a year.", passage) == [
        GroundingFaultKind.OPPOSITE
    ]
    assert kinds("It is for homes that use under 2500 kWh per year.", passage) == []


def test_a_place_in_an_order_is_a_number() -> None:
    passage = "Orla Finch was the 16th director. She finished a 4th-place run, and peaked at number 7."
    for right in ("Finch was the sixteenth director.", "She came in fourth.", "She peaked at the 7th place."):
        assert kinds(right, passage) == []
    for wrong in ("Finch was the 18th director.", "Finch was the eighteenth director.", "She came in 3rd."):
        assert kinds(wrong, passage) == [GroundingFaultKind.NUMBER]


def test_a_unit_without_a_number_is_compared_too() -> None:
    passage = "The timeout is the number of seconds that a reader waits, 300 by default."
    assert kinds("The timeout is given in seconds.", passage) == []
    assert kinds("The timeout is the number of minutes a reader waits.", passage) == [
        GroundingFaultKind.NUMBER
    ]


def test_one_is_a_number_where_it_is_a_limit() -> None:
    passage = "The query must give no more than one row. If it gives one row, its values are taken."
    assert kinds("At most one row may be given.", passage) == []
    assert kinds("The query must give at least one row.", passage) == [GroundingFaultKind.OPPOSITE]


def test_what_holds_only_under_a_condition_does_not_hold_even_without_it() -> None:
    passage = "Removing the folder is only safe when the lease has ended."
    assert kinds("The folder can be removed safely once the lease has ended.", passage) == []
    assert GroundingFaultKind.OPPOSITE in kinds(
        "Removing the folder is safe even when the lease has not ended.", passage
    )


def test_a_lower_limit_is_not_an_upper_one() -> None:
    assert kinds("At least 16 replicas are possible.", "Up to 16 replicas are possible.") == [
        GroundingFaultKind.OPPOSITE
    ]
    assert kinds("No more than 16 replicas are possible.", "Up to 16 replicas are possible.") == []


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        ("A direct debit costs €0.25.", "Card payments cost €0.25. A direct debit costs €0.40."),
        (
            "The Team plan has single sign-on.",
            "The Team plan has chat. The Business plan has single sign-on.",
        ),
        ("It answers WELCOME to old clients.", "It answers WELCOME first. It answers REFUSE to old clients."),
        ("By default mode=lazy is set.", "With mode=lazy it is fast. The default is mode=strict."),
        ("It keeps 4 daily and 7 weekly copies.", "It keeps 7 daily and 4 weekly copies."),
    ],
)
def test_what_a_passage_says_of_another_thing_is_not_support(sentence: str, passage: str) -> None:
    assert kinds(sentence, passage) != []


def test_every_whole_sentence_of_a_passage_is_borne_out() -> None:
    passage = (
        "A reader cannot write. Readers and writers differ. Only a writer writes, and never without a lease."
    )
    for sentence in split_sentences(passage):
        assert kinds(sentence, passage) == []


def test_headings_count_as_part_of_the_passage() -> None:
    passage = "Halden S40 > Firmware 3.8.1\nThe update corrects the colour of flash pictures."
    assert kinds("Firmware 3.8.1 of the Halden S40 corrects the colour of flash pictures.", passage) == []


_SAID = "Nobody but the porter may keep at least 3 keys and a lamp."


@pytest.mark.parametrize(
    "passage",
    [
        "The porter keeps keys" + " " * 30_000 + "x",
        "The porter keeps 1" + "1" * 30_000,
        "The porter keeps " + "1 " * 3_000 + "keys",
        "The porter keeps keys not built\n" + "not built\n" * 400,
        "Ada and " * 500 + "others keep keys.",
        "The porter of " + "A" * 20_000 + "- keeps keys.",
    ],
)
def test_no_passage_takes_long(passage: str) -> None:
    check_sentence(_SAID, passage)
    assert split_clauses(passage)
    assert other_time("Until 7 it is open.", passage) is None
    assert opposite_bounds(_SAID, passage) is None


def test_a_sentence_of_many_numbers_takes_no_long_look() -> None:
    check_sentence(
        '10\n"' * 1_000, "The porter must keep at least 10 keys of the Gate House. Nobody opens it twice."
    )
