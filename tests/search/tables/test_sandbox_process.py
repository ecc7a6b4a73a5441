"""What the sandbox promises of its processes: nothing of ours is in them, they end in time, they read what is there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from standin import StandIn

from search import Filters, Library, LibraryError, connections, upkeep
from search.errors import QueryError, QueryLimitError
from search.tables import sandbox, worker

GENEROUS = 15.0


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# One\n\nText.\n")
    (notes / "t.csv").write_text("n,word\n1,x\n2,y\n")
    upkeep.index(tmp_path / "library" / "library.db", [notes], StandIn())
    with Library.open(tmp_path / "library" / "library.db", embedder=StandIn()) as opened:
        yield opened


@pytest.fixture
def in_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts another script in the worker's place."""

    def put(script: str) -> None:
        (tmp_path / "other.py").write_text(script)
        monkeypatch.setattr(sandbox, "_WORKER", tmp_path / "other.py")

    return put


def lines(heard: sandbox._Heard) -> list[str]:
    return [line.decode() for line in heard.lines]


def gone(process: int) -> bool:
    """Whether a process, a child of ours, has ended and was taken note of."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_process_has_nothing_of_our_environment_folder_files_or_session(
    in_its_place: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "planted-secret")
    in_its_place(
        "import os, sys\n"
        "held = []\n"
        "for handle in range(3, 100):\n"
        "    try: os.fstat(handle); held.append(handle)\n"
        "    except OSError: pass\n"
        "print('planted' in repr(os.environ), 'HOME' in os.environ, os.getcwd(), os.getsid(0) == os.getpid(), held)\n"
    )
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        assert lines(sandbox._ask(b"{}\n", 5)) == ["False False / True []"]


def test_the_limits_of_the_kernel_are_set() -> None:
    resource = pytest.importorskip("resource")
    program = (
        "import resource, runpy\n"
        f"worker = runpy.run_path({str(sandbox._WORKER)!r}, run_name='worker')\n"
        "worker['_limit_the_process'](); worker['_limit_processor_time'](2)\n"
        "names = ('AS', 'FSIZE', 'NOFILE', 'CORE', 'CPU')\n"
        "print(*(resource.getrlimit(getattr(resource, 'RLIMIT_' + name))[1] for name in names))\n"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    limits = [int(word) for word in done.stdout.split()]
    assert all(
        0 <= limit <= most for limit, most in zip(limits, [worker.ADDRESSES, worker.FILE, worker.OPEN_FILES, 0, 6], strict=True)
    )
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != worker.FILE


def test_python_by_a_relative_entry_of_the_path_runs_statements(library: Library, tmp_path: Path) -> None:
    (tmp_path / "bin").symlink_to(Path(sys.executable).parent)
    asked = f"from search import Library; print(*Library.open({str(library.path)!r}).tables.sql('SELECT sum(n) FROM t').rows[0])"
    place = os.environ | {"PATH": f"bin{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(Path(sandbox.__file__).parents[2])}
    command = [Path(sys.executable).name, "-c", asked]
    done = subprocess.run(command, cwd=tmp_path, env=place, check=True, capture_output=True, text=True)
    assert done.stdout == "3\n"


def test_a_process_that_does_not_end_is_killed(library: Library, in_its_place: Callable[[str], None]) -> None:
    in_its_place("import os, time\nprint('{\"ready\": true}', flush=True)\nprint(os.getpid(), flush=True)\ntime.sleep(600)\n")
    begun = time.monotonic()
    heard = sandbox._ask(b"{}\n", 0.1)
    assert heard.stopped
    assert gone(int(lines(heard)[1]))
    assert time.monotonic() - begun < GENEROUS


def test_a_process_that_never_begins_is_killed_and_it_is_said(
    library: Library, in_its_place: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_START", 0.3)
    in_its_place("import time\ntime.sleep(600)\n")
    with pytest.raises(LibraryError, match="could not be opened for a query: no answer"):
        library.tables.sql("select 1")


def test_a_process_that_does_not_listen_to_a_long_request_is_no_reason_to_wait_for_ever(
    in_its_place: Callable[[str], None],
) -> None:
    in_its_place("import time\nprint('ready', flush=True)\ntime.sleep(600)\n")
    begun = time.monotonic()
    assert sandbox._ask(b"x" * 5_000_000, 0.1).stopped
    assert time.monotonic() - begun < GENEROUS


def test_a_process_that_fails_is_an_error_with_its_reason(library: Library, in_its_place: Callable[[str], None]) -> None:
    in_its_place("raise SystemExit('cannot import name sqlite3')\n")
    with pytest.raises(LibraryError, match="cannot import name sqlite3"):
        library.tables.sql("select 1")


def test_an_interruption_leaves_no_process_behind(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def interrupted(process: subprocess.Popen[bytes], *_: object) -> sandbox._Heard:
        started.append(process)
        raise KeyboardInterrupt

    monkeypatch.setattr(sandbox, "_hear", interrupted)
    with pytest.raises(KeyboardInterrupt):
        library.tables.sql("select 1")
    assert started[0].returncode is not None


def test_a_statement_too_hungry_for_memory_is_refused(library: Library) -> None:
    hungry = (
        "with recursive n(x) as (select 1 union all select x + 1 from n where x < 1000) "
        "select count(*) from (select distinct printf('%.*c', 900000, 'x') || x as t from n) where t <> ''"
    )
    with pytest.raises(QueryLimitError, match="needs more memory than a query may use"):
        library.tables.sql(hungry, seconds=60)


def test_statements_run_side_by_side(library: Library) -> None:
    with ThreadPoolExecutor(4) as several:
        results = list(several.map(lambda n: library.tables.sql("select ? + count(*) from t", [n]).rows[0][0], range(8)))
    assert results == [n + 2 for n in range(8)]


def test_what_was_committed_a_moment_ago_is_read(library: Library) -> None:
    writer = connections.open_for_writing(library.path)
    with connections.writing(writer):
        writer.execute("UPDATE documents SET title = 'Two' WHERE title = 'One'")
    try:
        assert library.tables.sql("select count(*) from documents where title = 'Two'").rows == ((1,),)
    finally:
        writer.close()


def test_an_open_write_transaction_blocks_no_statement_and_is_not_seen(library: Library) -> None:
    writer = connections.open_for_writing(library.path)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE documents SET title = 'Two'")
    try:
        assert library.tables.sql("select count(*) from documents where title = 'Two'").rows == ((0,),)
    finally:
        writer.execute("ROLLBACK")
        writer.close()


def test_no_file_stays_beside_the_library(library: Library) -> None:
    library.tables.sql("select count(*) from t")
    library.close()
    assert [file.name for file in library.path.parent.iterdir()] == ["library.db"]


def test_a_library_on_a_read_only_medium_is_read_without_any_file_beside_it(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.close()
    monkeypatch.setattr(connections.os, "access", lambda *_: False)
    with Library.open(library.path, embedder=StandIn()) as opened:
        assert connections.read_only_uri(library.path).endswith("?mode=ro&immutable=1")
        assert opened.tables.sql("select sum(n) from t").rows == ((3,),)
        assert [file.name for file in library.path.parent.iterdir()] == ["library.db"]


def test_the_file_of_the_library_is_never_opened_for_writing(library: Library) -> None:
    assert connections.read_only_uri(library.path).endswith("?mode=ro")


def test_a_damaged_library_is_named_as_such(library: Library) -> None:
    size = library.path.stat().st_size
    library.tables.sql("select count(*) from t")
    with library.path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    with pytest.raises(LibraryError, match="is damaged"):
        sandbox.run(library.path, "select * from documents", tables={}, scope=None)


def test_a_scope_of_many_documents_and_of_functions_of_ours_holds(library: Library) -> None:
    ids = frozenset(range(1, 200_000))
    scope = Filters(documents=ids, title="ONE", source=("*.md",))
    assert library.tables.sql("select title from documents", filters=scope).rows == (("One",),)
    with pytest.raises(QueryError, match="t"):
        library.tables.sql("select * from t", filters=scope)


def test_a_query_by_a_folder_with_characters_that_addresses_reserve(tmp_path: Path) -> None:
    place = tmp_path / "a ?mode=rw#b%20'c" / "library.db"
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# One\n")
    upkeep.index(place, [tmp_path / "notes"], StandIn())
    with Library.open(place, embedder=StandIn()) as opened:
        assert opened.tables.sql("select title from documents").rows == (("One",),)


def test_the_functions_that_are_permitted_are_those_that_sqlite_has_or_will_have() -> None:
    import sqlite3

    later = "concat concat_ws if json_error_position json_pretty median octet_length percentile percentile_cont percentile_disc"
    later += " string_agg timediff unhex"
    known = {name for (name,) in sqlite3.connect(":memory:").execute("SELECT name FROM pragma_function_list")}
    assert worker.FUNCTIONS - known <= {*later.split()}
