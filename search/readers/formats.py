"""Which suffix means which format: data only, in the words that a person would type for --type."""

from __future__ import annotations

from pathlib import Path


def _by_suffix(suffixes_by_format: dict[str, str]) -> dict[str, str]:
    return {f".{suffix}": name for name, suffixes in suffixes_by_format.items() for suffix in suffixes.split()}


TEXTS: dict[str, str] = _by_suffix(
    {
        "text": "txt text log out err me nfo",
        "rst": "rst rest",
        "asciidoc": "adoc asciidoc",
        "org": "org",
        "latex": "tex ltx sty cls",
        "bibtex": "bib",
        "subtitles": "srt vtt",
        "diff": "diff patch",
        "json": "json jsonl ndjson geojson json5 webmanifest",
        "yaml": "yaml yml",
        "toml": "toml",
        "ini": "ini cfg conf properties env editorconfig service desktop",
        "python": "py pyi pyw pyx",
        "javascript": "js mjs cjs jsx",
        "typescript": "ts tsx mts cts",
        "go": "go",
        "rust": "rs",
        "c": "c h",
        "cpp": "cpp cc cxx hpp hh hxx ino",
        "csharp": "cs csx",
        "fsharp": "fs fsx fsi",
        "java": "java",
        "kotlin": "kt kts",
        "scala": "scala sc",
        "groovy": "groovy gradle",
        "swift": "swift",
        "objc": "mm",
        "ruby": "rb rake gemspec",
        "php": "php",
        "perl": "pl pm",
        "lua": "lua",
        "r": "r",
        "julia": "jl",
        "haskell": "hs lhs",
        "ocaml": "ml mli",
        "elixir": "ex exs",
        "erlang": "erl hrl",
        "clojure": "clj cljs cljc edn",
        "lisp": "lisp lsp el scm rkt",
        "dart": "dart",
        "zig": "zig",
        "nim": "nim",
        "pascal": "pas dpr",
        "fortran": "f f90 f95 f03 for",
        "assembly": "asm s",
        "vb": "vb vbs bas",
        "shell": "sh bash zsh fish ksh",
        "powershell": "ps1 psm1 psd1",
        "batch": "bat cmd",
        "sql": "sql ddl dml psql",
        "graphql": "graphql gql",
        "protobuf": "proto",
        "terraform": "tf tfvars hcl",
        "nix": "nix",
        "cmake": "cmake",
        "make": "mk mak",
        "docker": "dockerfile",
        "css": "css scss sass less",
        "vue": "vue",
        "svelte": "svelte",
        "template": "j2 jinja jinja2 tmpl tpl erb ejs mustache hbs",
    }
)
MARKDOWN = (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd")
HTML = (".html", ".htm", ".xhtml", ".shtml")
XML = (".xml", ".xsd", ".xsl", ".xslt", ".rss", ".atom", ".rdf", ".opml", ".svg", ".wsdl", ".plist", ".docbook", ".dita")
PDF = (".pdf",)

NAMES: dict[str, str] = {
    "makefile": "make",
    "gnumakefile": "make",
    "dockerfile": "docker",
    "containerfile": "docker",
    "cmakelists.txt": "cmake",
    "jenkinsfile": "groovy",
    "vagrantfile": "ruby",
    "gemfile": "ruby",
    "rakefile": "ruby",
}
INTERPRETERS: dict[str, str] = {
    "python": "python",
    "pypy": "python",
    "sh": "shell",
    "bash": "shell",
    "dash": "shell",
    "zsh": "shell",
    "ksh": "shell",
    "fish": "shell",
    "node": "javascript",
    "deno": "typescript",
    "ruby": "ruby",
    "perl": "perl",
    "php": "php",
    "lua": "lua",
    "rscript": "r",
    "julia": "julia",
}

DELIMITED: dict[str, str] = _by_suffix({"csv": "csv", "tsv": "tsv tab"})
TABLES: dict[str, str] = DELIMITED | _by_suffix(
    {
        "xlsx": "xlsx xlsm",
        "ods": "ods",
        "parquet": "parquet pq",
        "sqlite": "sqlite sqlite3 db db3 s3db sl3",
    }
)
SQLITE = b"SQLite format 3\0"  # how such a file begins, whatever its suffix
LATER = frozenset(
    {
        *(".docx", ".docm", ".doc", ".odt", ".rtf", ".pptx", ".pptm", ".ppt", ".odp", ".xls", ".pages", ".numbers", ".key"),
        *(".epub", ".mobi", ".azw3", ".eml", ".mbox", ".msg", ".ipynb"),
        *(".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".mht", ".mhtml", ".djvu", ".ps", ".p7s"),
    }
)
BINARY: dict[str, str] = {
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".ico", ".heic", ".avif", ".psd"), "image"),
    **dict.fromkeys((".mp3", ".wav", ".flac", ".ogg", ".oga", ".opus", ".m4a", ".aac"), "audio"),
    **dict.fromkeys((".mp4", ".mkv", ".mov", ".avi", ".webm", ".m4v", ".mpg", ".mpeg"), "video"),
    **dict.fromkeys((".ttf", ".otf", ".woff", ".woff2", ".eot"), "font"),
    **dict.fromkeys((".exe", ".dll", ".so", ".dylib", ".o", ".a", ".class", ".pyc", ".wasm", ".jar", ".whl", ".deb"), "program"),
    **dict.fromkeys((".npy", ".npz", ".pkl", ".pickle", ".safetensors", ".pt", ".onnx", ".gguf", ".h5", ".feather"), "data"),
    **dict.fromkeys((".iso", ".img", ".dmg", ".vmdk"), "disk image"),
}


def suffix_of(path: Path) -> str:
    """The suffix in lower case, dot included; "" where there is none."""
    return path.suffix.lower()


def text_format(path: Path, text: str) -> str:
    """The format name of a text file: by its whole name, its suffix, the interpreter its first line names, else "text"."""
    known = NAMES.get(path.name.lower()) or TEXTS.get(suffix_of(path))
    if known:
        return known
    first = text[:200].split("\n", 1)[0]
    if first.startswith("#!"):
        words = [word.rsplit("/", 1)[-1] for word in first[2:].split()]
        words = [word for word in words if word != "env" and not word.startswith("-")]
        if words:
            return INTERPRETERS.get(words[0].rstrip("0123456789.").lower(), "text")
    return "text"
