"""Write the pages that are made from the program: `make docs`.

`--from RUN` first takes the result of a run into the summary behind the README's table and figure.
A test compares every page with what this would write, so a page cannot fall behind the program.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

import blast_beside_trafgen
import cli_reference
import example_index
import package_table
import readme_figure
import readme_table
import scenario_reference
from tailrace.results.directory.published import read_published

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
REPRODUCTION = readme_table.SUMMARY.parent / "README.md"
LIVE_TUTORIAL = ROOT / "docs" / "tutorial-live.md"
BLAST = ROOT / "docs" / "how-to" / "blast.md"


def scenario_page() -> str:
    """docs/scenario-reference.md."""
    return scenario_reference.render(json.loads(cli_reference.printed(["schema"])))


def cli_page() -> str:
    """docs/cli-reference.md."""
    return cli_reference.render(lambda verb: cli_reference.printed([*verb, "--help"]))


def with_table(path: Path) -> str:
    """A page with its table of reproduced results."""
    summary = json.loads(readme_table.SUMMARY.read_text())
    bands = read_published(readme_table.PUBLISHED)
    region = json.loads(readme_table.MAP.read_text())
    return readme_table.replace_block(path.read_text(), readme_table.table(summary, bands, region))


def with_features(page: str) -> str:
    """A page with the table of features."""
    return readme_table.replace_block(page, example_index.features(), example_index.README_MARKS)


def with_cost(page: str) -> str:
    """A page with the conclusion of the measured client."""
    conclusion = json.loads(readme_table.COST.read_text())["conclusion"]
    return readme_table.replace_block(
        page, conclusion, (readme_table.COST_BEGIN, readme_table.COST_END)
    )


def with_programs(page: str) -> str:
    """A page with the table of programs and packages."""
    return readme_table.replace_block(page, package_table.render(), package_table.MARKS)


def with_rates(page: str) -> str:
    """A page with the comparison of `tailrace blast` and trafgen."""
    return readme_table.replace_block(
        page, blast_beside_trafgen.render(), blast_beside_trafgen.MARKS
    )


def figure() -> str:
    """The README's figure."""
    return readme_figure.render(json.loads(readme_table.SUMMARY.read_text()))


PAGES: dict[Path, Callable[[], str]] = {
    ROOT / "docs" / "scenario-reference.md": scenario_page,
    ROOT / "docs" / "cli-reference.md": cli_page,
    LIVE_TUTORIAL: lambda: with_programs(LIVE_TUTORIAL.read_text()),
    BLAST: lambda: with_rates(BLAST.read_text()),
    README: lambda: with_features(with_table(README)),
    example_index.PAGE: example_index.render,
    REPRODUCTION: lambda: with_cost(with_table(REPRODUCTION)),
    readme_figure.PATH: figure,
}
README_PAGES = (README, REPRODUCTION, readme_figure.PATH)


def main(arguments: list[str]) -> int:
    """Write what differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--from", dest="run", type=Path, metavar="RUN", help="run directory with a result.json"
    )
    parser.add_argument(
        "--only", choices=["readme-table"], help="the README's table and figure alone"
    )
    options = parser.parse_args(arguments)
    if options.run is not None:
        result = json.loads((options.run / "result.json").read_text())
        write(readme_table.SUMMARY, readme_table.written(readme_table.condense(result)))
    for path, page in PAGES.items():
        if options.only is None or path in README_PAGES:
            write(path, page())
    return 0


def write(path: Path, text: str) -> None:
    """Write a page and say so, unless it stands there already."""
    if path.exists() and path.read_text() == text:
        print(f"{path.relative_to(ROOT)}: up to date")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    print(f"{path.relative_to(ROOT)}: written")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
