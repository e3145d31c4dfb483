"""How the page of `bench report` looks: on a telephone, on a wide screen, in the dark, on paper."""

from __future__ import annotations

from toolsync.render.canvas import AFTER, BAD, BAND, BEFORE, COLOURS, EVEN, FAINT, GOOD, INK

DARK = {
    INK: "#e6edf3",
    FAINT: "#30363d",
    BAND: "#1c2128",
    BEFORE: "#f0883e",
    AFTER: "#58a6ff",
    GOOD: "#3fb950",
    BAD: "#ff7b72",
    EVEN: "#9198a1",
}
"""What each colour is in the dark."""
LIGHT_PAPER, DARK_PAPER = "#ffffff", "#0d1117"


def _variables(colours: dict[str, str]) -> str:
    names = {INK: "ink", FAINT: "faint", BAND: "band", GOOD: "good", BAD: "bad", EVEN: "even"}
    return "".join(f"--{name}:{colours[colour]};" for colour, name in names.items())


def _shapes() -> str:
    """The plots' colours, which are attributes, replaced."""
    return "".join(
        f'svg [{attribute}="{light}"]{{{attribute}:{DARK[light]}}}'
        for light in COLOURS
        for attribute in ("fill", "stroke")
    )


STYLE = f"""
:root{{color-scheme:light dark;--paper:{LIGHT_PAPER};{_variables({one: one for one in COLOURS})}}}
@media (prefers-color-scheme:dark){{@media not print{{:root{{--paper:{DARK_PAPER};{_variables(DARK)}}}{_shapes()}}}}}
*{{box-sizing:border-box}}
body{{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}}
main{{max-width:76rem;margin:0 auto;padding:1rem}}
h1{{font-size:1.5rem;line-height:1.2;margin:.5rem 0}}
h2{{font-size:1.2rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--faint);padding-bottom:.25rem}}
p{{margin:.4rem 0}}
.quiet{{color:var(--even);font-size:.875rem}}
ul{{padding-left:1.2rem}}
.summary{{font-size:1.1rem;font-weight:600}}
.messages{{list-style:none;padding:0}}
.messages li{{border-left:4px solid var(--even);background:var(--band);padding:.5rem .75rem;margin:.4rem 0}}
.messages .problem{{border-color:var(--bad)}}
.messages .warning{{border-color:{BEFORE}}}
table{{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}}
th,td{{padding:.3rem .6rem;text-align:right;border-bottom:1px solid var(--faint);vertical-align:top}}
th{{color:var(--even);font-weight:600;white-space:nowrap}}
.run td{{white-space:nowrap}}
.run :is(th,td):first-child{{position:sticky;left:0;background:var(--paper);text-align:left}}
.wide{{overflow-x:auto}}
.verdicts{{width:100%}}
.verdicts :is(th,td):nth-child(2),.verdicts :is(th,td):last-child{{text-align:left}}
.verdicts td:last-child{{font-weight:600}}
.good td:last-child{{color:var(--good)}}
.bad td:last-child{{color:var(--bad)}}
.even td:last-child{{color:var(--even);font-weight:400}}
.plots{{columns:21rem;column-gap:1rem}}
figure{{margin:0 0 1rem;border:1px solid var(--faint);border-radius:.5rem;padding:.5rem;break-inside:avoid}}
figcaption{{font-size:.875rem}}
figcaption span{{color:var(--even)}}
svg{{display:block;width:100%;height:auto;font-family:system-ui,sans-serif;stroke-linejoin:round}}
dl{{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;font-size:.875rem}}
dt{{font-weight:600}}
dd{{margin:0}}
@media (max-width:40rem){{
main{{padding:.75rem}}
figure{{border:0;padding:0}}
.verdicts,.verdicts tbody{{display:block}}
.verdicts thead{{display:none}}
.verdicts tr{{display:grid;grid-template-columns:repeat(6,1fr);gap:.1rem .5rem;padding:.5rem 0;
border-bottom:1px solid var(--faint)}}
.verdicts td{{border:0;padding:0;text-align:left;grid-column:span 2}}
.verdicts td::before{{content:attr(data-head);display:block;font-size:.75rem;font-weight:400;color:var(--even)}}
.verdicts td:nth-child(2){{grid-column:span 4}}
.verdicts td:nth-child(n+6){{grid-column:span 3}}
}}
@media print{{section,figure,tr{{break-inside:avoid}}.wide{{overflow:visible}}}}
"""
