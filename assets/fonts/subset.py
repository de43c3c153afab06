"""Makes the two fonts of this folder from Inter 4 (SIL Open Font License 1.1, see OFL.txt): Latin, Greek and
some signs of mathematics, with figures of equal width so that a running clock does not move.

    pip install fonttools; python subset.py FOLDER-WITH-INTER-OTF

and the font of icons from the crate lucide-icons 1 (ISC licence, see LUCIDE.txt), with `src/app/icon.rs`: those that
the window uses.

    python subset.py icons FOLDER-OF-THE-CRATE
"""

import re
import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

SIGNS = """⁰⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃‐–—‘’“”•…′″←↑→↓∂∑−√∞∫≈≠≤≥"""


def even_figures(font: TTFont) -> dict[str, str]:
    """The glyphs that the feature tnum puts in the place of others."""
    table = font["GSUB"].table
    mapping = {}
    for record in table.FeatureList.FeatureRecord:
        if record.FeatureTag == "tnum":
            for index in record.Feature.LookupListIndex:
                for lookup in table.LookupList.Lookup[index].SubTable:
                    mapping.update(getattr(lookup, "ExtSubTable", lookup).mapping)
    return mapping


def build(source: Path, target: Path) -> None:
    font = TTFont(source)
    even = even_figures(font)
    for table in font["cmap"].tables:
        if table.isUnicode():
            for figure in map(ord, "0123456789"):
                # Two tables may share their mapping; the second time there is nothing to do.
                table.cmap[figure] = even.get(table.cmap[figure], table.cmap[figure])
    options = subset.Options()
    options.layout_features = ["kern"]
    options.hinting = False
    options.desubroutinize = True
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    options.drop_tables += ["GSUB", "STAT", "DSIG", "meta"]
    subsetter = subset.Subsetter(options)
    unicodes = [*range(0x20, 0x7F), *range(0xA0, 0x180), *range(0x391, 0x3CA), *map(ord, SIGNS)]
    subsetter.populate(unicodes=unicodes)
    subsetter.subset(font)
    font.save(target)


def icons(crate: Path) -> None:
    """The icons that stand behind `Icon::` in the window's sources."""
    here = Path(__file__).parent
    app = here.parent.parent / "src/app"
    names = (name for source in app.rglob("*.rs") for name in re.findall(r"\bIcon::([A-Z]\w*)", source.read_text()))
    used = sorted(set(names))
    arms = dict(re.findall(r"Icon::(\w+) => '\\u\{(\w+)\}'", (crate / "src/icon.rs").read_text()))
    options = subset.Options()
    options.layout_features = []
    options.hinting = False
    options.glyph_names = False
    options.name_IDs = [0, 1, 2, 13, 14]
    font = TTFont(crate / "lucide.ttf")
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[int(arms[name], 16) for name in used])
    subsetter.subset(font)
    font.save(here / "lucide.ttf")
    # The crate's font says that all glyphs begin at 0, and they are drawn from there; the true bounds, which are found when it is saved, would move them.
    font = TTFont(here / "lucide.ttf")
    for name, (width, _) in font["hmtx"].metrics.items():
        glyph = font["glyf"][name]
        glyph.expand(font["glyf"])
        font["hmtx"][name] = (width, getattr(glyph, "xMin", 0))
    font.save(here / "lucide.ttf")
    listed = "".join(f"    {name} = 0x{arms[name]},\n" for name in used)
    text = (app / "icon.rs").read_text()
    (app / "icon.rs").write_text(re.sub(r"(?<=enum Icon {\n)[^}]*", listed, text))


if sys.argv[1] == "icons":
    icons(Path(sys.argv[2]))
    sys.exit()
for style in ("Regular", "SemiBold"):
    build(Path(sys.argv[1]) / f"Inter-{style}.otf", Path(__file__).parent / f"Inter-{style}.otf")
