"""`tailrace.folder` alone opens the files of run directories: these may be another person's, with
links in them.

Every module that opens, lists, makes or removes files by their paths is found, and has to say in
`OTHERS` what files these are. None of them are those of a run directory.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "tailrace"
METHODS = frozenset(
    [
        "open",
        "read_text",
        "read_bytes",
        "write_text",
        "write_bytes",
        "glob",
        "rglob",
        "iterdir",
        "unlink",
        "mkdir",
        "rmdir",
        "touch",
        "chmod",
        "symlink_to",
        "hardlink_to",
    ]
)
"""Of `Path`."""
CALLS = {
    "os": frozenset(
        [
            "open",
            "listdir",
            "scandir",
            "mkdir",
            "makedirs",
            "replace",
            "rename",
            "link",
            "symlink",
            "remove",
            "unlink",
        ]
    ),
    "shutil": frozenset(["rmtree", "move", "copy", "copy2", "copyfile", "copytree"]),
}
"""Of other modules, which have functions of the same names."""
FILES = frozenset(
    (
        "opened",
        "read_bytes",
        "read_text",
        "read_json",
        "write_json",
        "write_text",
        "write_bytes",
        "make_folder",
    )
)
"""Functions of `tailrace.files`, which take paths."""
PARQUET = frozenset(("read_parquet", "write_parquet", "write_csv"))
OTHERS = {
    # Whole packages: what they open is the machine's, a file that the user names, or a program's
    # own.
    "exact": "the folder of a trial, made empty by `Folder.make_empty`, and the programs of this "
    "installation",
    "fit": "the scenario that is fitted, in a temporary folder",
    "importers": "the files that the user imports, and grammars of this package",
    "live": "the folder of a trial, made empty by `Folder.make_empty`, standing fabrics, and the "
    "system's own files",
    "tools": "files that the user names, drives, interfaces, labs and what the system tells of "
    "them, and the results of `measure`, which no command reads",
    "programs": "files of real programs, in the folder of a trial or on a "
    "guest, and programs of the machine",
    "scenario": "the scenario and what it includes: files that the user names",
    "whatif": "this package's assets, and the page that the user names",
    # Single modules.
    "cli/advising.py": "a capture that the user names",
    "cli/console.py": "/dev/null, and the log of an internal error",
    "cli/drive.py": "a drive, and the folder that the user names",
    "cli/fitting.py": "the scenario that the user names",
    "experiment/remote/credentials.py": "certificates that the user names, and keys in a "
    "folder of the run's scheduler",
    "cli/inspect.py": "the scenario that the user names",
    "cli/interfaces.py": "the reading that the user names",
    "cli/listing.py": "the folder of run directories, and the scenarios here",
    "cli/live.py": "the parameters that the user names",
    "cli/switch.py": "the folder that the user names",
    "cli/studying.py": "the page that the user names",
    "cli/tracing.py": "the trace and the capture that the user names",
    "cli/vendors.py": "the configuration that the user names",
    "experiment/machine.py": "what the system tells of the processor",
    "experiment/native.py": "the extension",
    "experiment/recordings.py": "a recording that the scenario names",
    "experiment/run.py": "the scenario",
    "experiment/storage.py": "the published figures that the scenario names; a "
    "table is made in memory",
    "files.py": "files by their paths",
    "folder.py": "files of run directories",
    "outcome/tables.py": "a table in memory",
    "profile/capture.py": "a capture that the user names",
    "profile/page.py": "the page that the user names",
    "report/engines.py": "the page that the user names",
    "report/page.py": "this package's assets",
    "results/directory/published.py": "the published figures that the scenario names",
    "results/directory/tables.py": "a file that the caller names, for a table",
    "results/sweep/files.py": "a table in memory",
    "search/search.py": "the directory of a search, which the user names",
    "search/text.py": "the results of a search, which no command reads",
    "sensitivity/study.py": "the directory of a study, which the user names",
    "sensitivity/text.py": "the results of a study, which no command reads",
}
"""By module, or by package, what is opened there."""


def opened(file: Path) -> Iterator[str]:
    """What in a module opens files by their paths."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imported = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in ("tailrace.files", "arro3.io")
        for name in node.names
        if name.name in FILES | PARQUET
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in imported | {"open"}:
            yield node.func.id
        if isinstance(node.func, ast.Attribute):
            of = ast.unparse(node.func.value)
            if node.func.attr in CALLS.get(of, METHODS - ({"open"} if of in OWN else set())):
                yield f"{of}.{node.func.attr}"


OWN = frozenset(("link", "self.directory", "self.engine", "engine"))
"""Objects of this package that have a method `open`."""


def opening() -> dict[str, list[str]]:
    """By module, what opens files in it."""
    found = {
        str(file.relative_to(PACKAGE)): sorted(set(opened(file)))
        for file in sorted(PACKAGE.rglob("*.py"))
    }
    return {name: calls for name, calls in found.items() if calls}


def test_no_other_module_opens_files_of_run_directories() -> None:
    unknown = {
        name: calls
        for name, calls in opening().items()
        if name not in OTHERS and name.split("/")[0] not in OTHERS
    }
    assert not unknown, (
        "open them with tailrace.folder.Folder, or say in OTHERS which other files these are"
    )


def test_every_module_that_is_said_to_open_other_files_does() -> None:
    found = opening()
    packages = {name.split("/")[0] for name in found}
    assert sorted(OTHERS.keys() - found.keys() - packages) == []


READS = frozenset(("read_text", "read_bytes", "open"))
"""Methods that read what stands at a path, or wait for it, whatever it is and however long."""
OWN_FILES = frozenset(
    [
        # Whole packages: files of the system, of programs that were started, or of this package.
        "exact",
        "live",
        "programs",
        "tools/drive",
        "tools/switch/devices",
        "whatif",
        # Single modules.
        "experiment/machine.py",
        "experiment/native.py",
        "importers/nxos/parse.py",
        "importers/sonic/read.py",
        "report/page.py",
    ]
)
"""What opens no file that a user names."""


def test_files_that_users_name_are_opened_by_one_module() -> None:
    found = {
        name: calls
        for name, of in opening().items()
        if not OWN_FILES & {name, name.split("/")[0], name.rpartition("/")[0]}
        and (calls := [one for one in of if _reads(one)])
    }
    assert not found, "read them with `read_bytes`, `read_text` or `opened` of tailrace.files"


def _reads(call: str) -> bool:
    of, _, method = call.rpartition(".")
    return bool(of) and method in READS and of not in ("os", "gzip")


def test_what_opens_files_is_found(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text(
        "from tailrace.files import write_json\n"
        "(run / 'x').read_bytes()\nfolder.glob('*')\nopen(name)\nos.open(name, "
        "0)\nwrite_json(path, 1)\n"
        "folder.read(name)\nself.directory.open(identity)\n"
    )
    assert set(opened(file)) == {
        "run / 'x'.read_bytes",
        "folder.glob",
        "open",
        "os.open",
        "write_json",
    }
