"""Kit of Neo4j Browser (ops/neo4j-browser): packs its questions for the Browser, and serves its guide.

    uv run scripts/neo4j_browser_kit.py build     after a change of favorites/: rebuilds favorites.zip and guide.html
    uv run scripts/neo4j_browser_kit.py serve     then, in the Browser: :guide http://localhost:8474/guide.html

Effect of dropping a file on Neo4j Browser 5.24: a `.grass` becomes the style. Every `.cypher` in a `.zip` becomes a
favourite, in a folder with the name of the folder in the zip. A single `.cypher` becomes one favourite, even if it has
several queries. So each question is a file, and the zip has all questions.
"""

from __future__ import annotations

import argparse
import html
import sys
import zipfile
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

KIT = Path(__file__).parents[1] / "ops" / "neo4j-browser"
QUIET = "// No rows is good news."
PORT = 8474
# The Browser loads guides only from the host name localhost, unless the server's settings list more hosts.
HOST = "localhost"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time in a zip, so that equal questions give equal bytes

INTRODUCTION = {
    "1 lineage": "Sources of a dataset or column, and everything derived from it. Arrows point along the data flow.",
    "2 runs": "Runs: the datasets that each read and wrote, and its code.",
    "3 traces": "From an offset to the micro-batch that read it, and on from there; from files to offsets; segments.",
    "4 impact": "Everything that a change would affect, and people to inform.",
    "5 blast radius": "Everything that bad data has reached.",
    "6 changes": "New and removed lineage, and the code that changed it.",
    "7 search": "Find things by name or owner.",
    "8 data quality": "Faults of lineage or of data. For most of these questions, no rows is good news.",
}
WELCOME = """
<p>Questions to the lineage graph. A click on a question puts it into the editor. Many questions begin with a name of
the demo: replace it with your own.</p>
<p>Drop <code>headwater.grass</code> on this page for colours and captions, and <code>favorites.zip</code> to have these
questions among your favourites.</p>
"""


@dataclass(frozen=True, slots=True)
class Favorite:
    """One question.

    Attributes:
        folder: Name of the question's folder, with spaces instead of hyphens, such as `5 blast radius`.
        cypher: The whole file, as the Browser gets it.
        quiet: Whether the question searches for faults, so that a sound graph gives no rows.
    """

    path: Path
    folder: str
    title: str
    cypher: str
    quiet: bool


def load_favorites() -> list[Favorite]:
    """All questions, in the order of their folders and files."""
    found = []
    for path in sorted((KIT / "favorites").glob("*/*.cypher")):
        cypher = path.read_text(encoding="utf-8")
        first, second, *_ = cypher.splitlines()
        title = first.removeprefix("// ")
        found.append(Favorite(path, path.parent.name.replace("-", " "), title, cypher, second == QUIET))
    return found


def write_zip(favorites: list[Favorite], path: Path) -> None:
    """The archive that Neo4j Browser imports: not compressed, so that no version of a library changes its bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for favorite in favorites:
            name = f"Headwater {favorite.folder}/{favorite.path.name}"
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), favorite.cypher)


def guide(favorites: list[Favorite]) -> str:
    """The guide: a slide for each folder; a click on a question loads it into the editor."""
    slides = [f"<slide><h3>Headwater</h3>{WELCOME}</slide>"]
    for folder, introduction in INTRODUCTION.items():
        questions = "".join(
            f"<h5>{html.escape(one.title)}</h5>"
            f'<pre class="pre-scrollable code runnable">{html.escape(one.cypher)}</pre>'
            for one in favorites
            if one.folder == folder
        )
        title = folder.partition(" ")[2]
        slides.append(f"<slide><h3>{title[0].upper() + title[1:]}</h3><p>{introduction}</p>{questions}</slide>")
    # No <article> around the slides: the Browser looks only for slides.
    return "<title>Headwater</title>\n" + "\n".join(slides) + "\n"


def build(into: Path = KIT) -> None:
    """Write favorites.zip and guide.html."""
    favorites = load_favorites()
    write_zip(favorites, into / "favorites.zip")
    (into / "guide.html").write_text(guide(favorites), encoding="utf-8")


class GuideHandler(SimpleHTTPRequestHandler):
    """Serves the kit to the Browser's page, which has another origin and sends headers that need permission."""

    def end_headers(self) -> None:
        """Allow every origin: all content is public."""
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Headers", "*, cache-control, pragma")
        super().end_headers()

    def do_OPTIONS(self) -> None:
        """Answer the preflight request of CORS."""
        self.send_response(204)
        self.end_headers()


def guide_server(port: int) -> ThreadingHTTPServer:
    """Make a server of the kit, only on loopback; port 0 chooses a free port."""
    return ThreadingHTTPServer((HOST, port), partial(GuideHandler, directory=str(KIT)))


def main() -> int:
    """Run the script and return its exit status."""
    flags = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    flags.add_argument("action", choices=("build", "serve"))
    flags.add_argument("--port", type=int, default=PORT, help="port of the guide's server (default: %(default)s)")
    chosen = flags.parse_args()
    if chosen.action == "build":
        build()
        return 0
    with guide_server(chosen.port) as server:
        print(f"In Neo4j Browser: :guide http://{HOST}:{server.server_port}/guide.html   (Ctrl+C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
