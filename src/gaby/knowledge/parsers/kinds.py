"""What kind of document a name or a media type announces, and which are read at all."""

from urllib.parse import urlsplit

MARKDOWN = "markdown"
PLAIN = "plain"
HTML = "html"
PDF = "pdf"

_SUFFIXES: dict[str, str] = {
    MARKDOWN: "md markdown mdown mkd mdx qmd rmd",
    PDF: "pdf",
    HTML: "html htm xhtml",
    "python": "py pyi pyw",
    "go": "go",
    "java": "java",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "rust": "rs",
    "c": "c h",
    "cpp": "cc cpp cxx c++ hh hpp hxx",
    "csharp": "cs",
    "php": "php",
    "ruby": "rb rake gemspec",
    "bash": "sh bash",
    PLAIN: (
        "txt text log out err rst adoc asciidoc org tex wiki textile csv tsv json jsonl ndjson json5 yaml yml toml ini "
        "cfg conf cnf properties editorconfig xml xsd xsl wsdl sql ddl graphql proto thrift avsc tf tfvars hcl nix "
        "dockerfile service socket timer rules alerts zsh fish ksh ps1 psm1 bat cmd awk sed kt kts swift scala groovy "
        "gradle clj ex exs erl hs lua pl pm r jl dart m mm vb fs vue svelte css scss less eml srt vtt diff patch pod "
        "man tpl j2 jinja tmpl rego cue jsonnet cmake mk"
    ),
}
_BY_SUFFIX = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_BY_NAME = {
    **dict.fromkeys(("rakefile", "gemfile", "vagrantfile"), "ruby"),
    **dict.fromkeys(
        (
            *("readme", "license", "licence", "copying", "notice", "authors", "contributors", "changelog", "changes"),
            *("news", "todo", "install", "faq", "history", "maintainers", "codeowners", "security", "runbook"),
            *("makefile", "dockerfile", "containerfile", "jenkinsfile", "procfile", "caddyfile", "justfile"),
            *("crontab", "hosts", "fstab", "syslog", "messages"),
        ),
        PLAIN,
    ),
}
# Long, and written by programs for programs.
_NOT_FOR_READING = frozenset(
    ("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "composer.lock", "go.sum", "cargo.lock", "uv.lock")
)
_LONGEST_SUFFIX = 20
_NOT_FOR_READING_ENDS = (".min.js", ".min.css", ".min.html", ".bundle.js")
_BY_MEDIA_TYPE = {
    "text/markdown": MARKDOWN,
    "text/x-markdown": MARKDOWN,
    "text/html": HTML,
    "application/xhtml+xml": HTML,
    "application/pdf": PDF,
    "application/x-pdf": PDF,
}
# Said of anything, so the name knows better.
_VAGUE_TYPES = frozenset(("", "application/octet-stream", "binary/octet-stream", "application/x-download"))
_TEXT_TYPES = frozenset(
    (
        *("application/json", "application/ld+json", "application/x-ndjson", "application/xml", "application/yaml"),
        *("application/x-yaml", "application/toml", "application/sql", "application/javascript", "application/x-sh"),
        *("application/x-javascript", "application/x-httpd-php", "application/typescript"),
    )
)


def kind_of(name: str, media_type: str | None = None) -> str | None:
    """The `Text.kind` that such a document will have; None when it is nothing that is read, such as a picture.

    A server's word counts for what it is precise about: a page called `index.php` that is sent as `text/html` is HTML,
    and a `text/plain` called `setup.md` is Markdown.
    """
    said = (media_type or "").partition(";")[0].strip().lower()
    if said in _BY_MEDIA_TYPE:
        return _BY_MEDIA_TYPE[said]
    named = _by_name(name)
    if said in _VAGUE_TYPES:
        return named
    if said.startswith("text/") or said in _TEXT_TYPES:
        return PLAIN if named in (None, PDF) else named
    return None


def unread_kind(name: str) -> str:
    """What to call the kind of a file that is not read: `.docx`; empty for a name without an extension."""
    base = base_name(name).lower()
    if base in _NOT_FOR_READING:
        return base
    longer = next((each for each in _NOT_FOR_READING_ENDS if base.endswith(each)), None)
    stem, _, suffix = base.rpartition(".")
    return longer or (f".{suffix[:_LONGEST_SUFFIX]}" if stem and suffix else "")


def base_name(name: str) -> str:
    """The last part of a path or an address."""
    path = urlsplit(name).path if "://" in name else name
    return path.rstrip("/").rpartition("/")[2]


def _by_name(name: str) -> str | None:
    base = base_name(name).lower()
    if base in _NOT_FOR_READING or base.endswith(_NOT_FOR_READING_ENDS):
        return None
    stem, dot, suffix = base.rpartition(".")
    if not dot:
        return _BY_NAME.get(base)
    # `app.log.3` is a log that was rotated, and `README.de` is still a read-me.
    if suffix.isdigit() and stem.endswith(".log"):
        return PLAIN
    return _BY_SUFFIX.get(suffix) or _BY_NAME.get(stem)
