"""What is a secret, and what only looks like one to who is in a hurry."""

import uuid

import pytest

from schemas.secrets import find_secrets
from tests.fakes.secret_samples import BASE64, HEX, URL_SAFE, draw, github_token, private_key, web_token

UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

TOKENS = [
    ("aws_access_key", "AKIA" + draw(16, UPPER)),
    ("aws_access_key", "ASIA" + draw(16, UPPER)),
    ("github_token", github_token()),
    ("github_token", "ghs" + "_" + draw(40)),
    ("github_token", "github" + "_pat_" + draw(22) + "_" + draw(59)),
    ("gitlab_token", "glpat" + "-" + draw(20, URL_SAFE)),
    ("gitlab_token", "glrt" + "-" + draw(20)),
    ("slack_token", "xoxb" + "-" + draw(12, "123456789") + "-" + draw(13, "123456789") + "-" + draw(24)),
    ("stripe_key", "sk" + "_live_" + draw(24)),
    ("stripe_key", "rk" + "_test_" + draw(99)),
    ("stripe_key", "whsec" + "_" + draw(32)),
    ("google_api_key", "AIza" + draw(34, URL_SAFE) + "x"),
    ("google_oauth", "GOCSPX" + "-" + draw(28)),
    ("google_oauth", "ya29" + "." + draw(120, URL_SAFE) + "x"),
    ("npm_token", "npm" + "_" + draw(36)),
    ("pypi_token", "pypi" + "-AgEIcHlwaS5vcmc" + draw(150)),
    ("rubygems_token", "rubygems" + "_" + draw(48, HEX)),
    ("docker_token", "dckr" + "_pat_" + draw(27)),
    ("jwt", web_token()),
    ("llm_api_key", "sk" + "-" + draw(20) + "T3BlbkFJ" + draw(20)),
    ("llm_api_key", "sk" + "-proj-" + draw(120, URL_SAFE) + "x"),
    ("llm_api_key", "sk" + "-ant-api03-" + draw(93) + "AA"),
    ("llm_api_key", "hf" + "_" + draw(34)),
    ("azure_client_secret", draw(3) + "8Q~" + draw(34)),
    ("digitalocean_token", "dop" + "_v1_" + draw(64, HEX)),
    ("sendgrid_key", "SG" + "." + draw(22) + "." + draw(43)),
    ("mailgun_key", "key" + "-" + draw(32, HEX)),
    ("telegram_token", draw(10, "123456789") + ":AA" + draw(33)),
    ("databricks_token", "dapi" + draw(32, HEX)),
    ("shopify_token", "shpat" + "_" + draw(32, HEX)),
    ("vault_token", "hvs" + "." + draw(24)),
    ("terraform_token", draw(14) + ".atlasv1" + "." + draw(67)),
    ("grafana_token", "glsa" + "_" + draw(32) + "_" + draw(8, HEX)),
    ("postman_key", "PMAK" + "-" + draw(24, HEX) + "-" + draw(34, HEX)),
]

NAMED = [
    'api_key = "{}"',
    "password: {}",
    "export DEPLOY_TOKEN={}",
    "export DB_PASS={}",
    "MYSQL_ROOT_PASS: '{}'",
    "smtp.pass = {}",
    'dbpass="{}"',
    "Cookie: theme=dark; session={}; lang=en",
    "Set-Cookie: PHPSESSID={}; Path=/; HttpOnly",
    "send the cookie session={} along",
    "curl -b 'connect.sid={}' https://host.example/",
    '{{"client_secret": "{}"}}',
    "run --password {} now",
    "Authorization: Bearer {}",
    "see https://bob:{}@host.example/x",
    "AWS_SECRET_ACCESS_KEY={}\nREGION=eu",
    "db.password={};",
    "'token' => '{}',",
    "API key | {}",
    "accessToken\t{}",
    "PASSWORD '{}'",
    "`secret-key`: `{}`.",
    "The secret key is: {}.",
    "<password>{}</password>",
    "SECRET_KEY = b'{}'",
    "Kennwort: {}",
    "Mot de passe : {}",
    "La contraseña es: {}",
    "密码：{}",
]

HARMLESS = [
    "password = changeme12345678",
    "password = correct-horse-battery-staple",
    "password = MyVerySecretPassword123",
    "api_key = YOUR_API_KEY_GOES_HERE_42",
    "api_key = <your key of 32 characters>",
    "token = ${DEPLOY_TOKEN_2026_PRODUCTION}",
    "token: {{ vault.deploy.token42 }}",
    "password = os.environ['DB_PASSWORD_1']",
    "secret = get_secret_value(1, 'Abc')",
    "password_encryption = scram-sha-256",
    "password_file = /etc/Keys/3kX9/service-account.json",
    "ssl_key_file = 'C:\\Keys\\Server2026\\private1.pem'",
    "token: config/keys/Prod2026/file-v2.1",
    "password = /etc/sudoers.d/90-archie_commands",
    "The token is UnexpectedIndentation2Error here.",
    "token_url: https://login.example/oauth2/v2.0/Token1",
    f"secret_id = {draw(32, HEX)}",
    f"api_key = {uuid.UUID(draw(32, HEX))}",
    f"password = md5{draw(32, HEX)}",
    "password = SCRAM-SHA-256$4096:" + draw(24, BASE64),
    f"sha256: {draw(64, HEX)}",
    f"commit {draw(40, HEX)}",
    f"Content-MD5: {draw(22, BASE64)}==",
    f"integrity=sha384-{draw(64, BASE64)}",
    f"primary key = {draw(24)}",
    f"public_key = {draw(40)}",
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{draw(43, BASE64)} bob@host",
    "The token InvalidPasswordException2Handler is raised.",
    "aws_access_key_id = AKIA" + "IOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/" + "K7MDENG/bPxRfiCYEXAMPLEKEY",
    "ghp" + "_" + "x" * 36,
    "sk-" + "your-own-key-goes-right-here-please",
    private_key(lines=0).replace("\n\n", "\n...\n"),
    "-----BEGIN CERTIFICATE-----\n" + draw(64, BASE64) + "\n-----END CERTIFICATE-----",
    "sk-estimator-doc-link-fitted-sk-toggleable-label-arrow",
    "export DB_PASS=<password>",
    "export DB_PASS=changeme",
    "export DB_PASS=changeme_1234567890",
    "export DB_PASS=$(vault read -field=password db/Prod42)",
    f"the first pass: {uuid.UUID(draw(32, HEX))}",
    f"a passage = {draw(24)}",
    f"bypass={draw(24)}",
    f"compass: {draw(24)}",
    f"it will pass {draw(24)} on",
    "Cookie: session=YOUR_SESSION_ID_GOES_HERE_1",
    "Set-Cookie: session=<session id>; Path=/; HttpOnly",
    "Set-Cookie: lang=en-US; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
    f"Cookie: theme={draw(20)}",
    "a cookie session=abc123 lasts 30 minutes",
    f"session={draw(24)} is the name of a variable here",
]


AROUND = ("{}", "TOKEN={}", '("{}")', "Use {}.", "https://h.example/?t={}&x=1", "a\n{}\nb")
BY_LOT = (
    "x" + draw(4) + "#" + draw(4, seed=5) + "7!Q",
    draw(20),
    draw(40, BASE64),
    draw(64, HEX),
    draw(43, URL_SAFE, seed=3),
)
UNNAMED = ("{}", "version {} is out", "checksum = {}", "build: {}", "the key {} of a row")


def kinds(text: str) -> dict[str, str]:
    """What is found in a text: values, and what kind each is of."""
    return {secret.value: secret.kind for secret in find_secrets(text)}


def test_a_token_is_known_by_its_form() -> None:
    asked = [(kind, token, around.format(token)) for kind, token in TOKENS for around in AROUND]
    assert [text for kind, token, text in asked if kinds(text).get(token) != kind] == []


def test_what_a_name_calls_secret_is_one_if_it_looks_drawn_by_lot() -> None:
    asked = [(value, around.format(value)) for value in BY_LOT for around in NAMED]
    assert [text for value, text in asked if value not in kinds(text)] == []


def test_samples_names_paths_and_digests_are_no_secrets() -> None:
    assert [text for text in HARMLESS if find_secrets(text)] == []


def test_a_random_value_without_the_name_of_a_secret_is_none() -> None:
    texts = [text.format(value) for value in BY_LOT[2:4] for text in UNNAMED]
    assert [text for text in texts if find_secrets(text)] == []


@pytest.mark.parametrize("name", ["PRIVATE KEY", "RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
def test_a_private_key_is_one_secret_with_all_its_lines(name: str) -> None:
    key = private_key(name)
    (secret,) = find_secrets(f"The key:\n\n{key}\n\nGoes there.")
    assert (secret.kind, secret.value) == ("private_key", key)
    assert set(key.splitlines()[1:-1]) <= secret.pieces


def test_the_key_of_a_json_file_and_one_cut_short_are_found_too() -> None:
    key = private_key()
    as_json = key.replace("\n", "\\n")
    assert as_json in {secret.value for secret in find_secrets(f'{{"private_key": "{as_json}"}}')}
    cut = "\n".join(key.splitlines()[:6])
    assert [secret.value for secret in find_secrets(f"{cut}\n\n[...] and so on")] == [cut]


def test_a_webhook_is_known_by_its_address() -> None:
    path = f"services/T{draw(10, UPPER)}/B{draw(10, UPPER)}/{draw(24)}"
    assert kinds(f"POST https://hooks.slack.com/{path} now")[path] == "slack_webhook"
    assert not find_secrets(f"POST https://hooks.example/{path} now")


def test_the_keys_of_a_connection_string_are_found() -> None:
    key = draw(86, BASE64) + "=="
    text = f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey={key};EndpointSuffix=core"
    assert kinds(text)[key] == "azure_key"
    signature = draw(43) + "%3D"
    address = f"https://x.blob.example/c?sv=2024-05-04&se=2027&sr=c&sp=r&sig={signature}"
    assert kinds(address)[signature] == "azure_sas"


def test_no_secret_shows_in_a_trace() -> None:
    token = github_token()
    assert token not in repr(find_secrets(token))


def test_a_session_that_is_kept_in_its_cookie_is_hidden_to_its_end() -> None:
    session = draw(3_900)

    (secret,) = find_secrets(f"curl -H 'Cookie: lang=de; _app_session={session}; a=b' https://host.example/")

    assert secret.value == session


def test_a_letter_whose_lower_case_is_two_signs_moves_nothing() -> None:
    token, value = github_token(), draw(20)
    found = {secret.value for secret in find_secrets(f"\u0130 {token} \u0130 PASSWORD={value} \u0130")}
    assert found == {token, value}
