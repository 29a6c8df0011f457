"""The looks of the page: light and dark, on paper, on a phone."""

# ruff: noqa: E501
from __future__ import annotations

LIGHT = ["#2364aa", "#d1600a", "#1b7f5c", "#7a4fb0", "#b8304a", "#0f7f8c", "#8a6d0f", "#5d6a76"]
DARK = ["#7fb2ee", "#f5a05a", "#5fcf9f", "#c3a2f0", "#f58a9c", "#5fd0da", "#dcc162", "#aab6c2"]
COLOURS = len(LIGHT)


def _colours(values: list[str]) -> str:
    return "".join(f"--c{number}:{value};" for number, value in enumerate(values))


_USES = "".join(
    f".c{n}{{stroke:var(--c{n});fill:var(--c{n})}}i.c{n}{{background:var(--c{n})}}" for n in range(COLOURS)
)

STYLE = f"""
:root{{color-scheme:light dark;--paper:#fff;--ink:#1c2126;--soft:#5a646e;--line:#dde2e7;--field:#f5f7f9;{_colours(LIGHT)}}}
@media(prefers-color-scheme:dark){{:root{{--paper:#14181c;--ink:#e4e8ec;--soft:#9aa5b0;--line:#2e363e;--field:#1c2227;{_colours(DARK)}}}}}
*{{box-sizing:border-box}}
body{{margin:0 auto;max-width:72rem;padding:1.5rem 1rem 3rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}}
h1{{font-size:1.6rem;margin:0 0 .2rem}}h2{{font-size:1.2rem;margin:2.2rem 0 .6rem}}h3{{font-size:1rem;margin:0 0 .4rem}}
p{{margin:.3rem 0 .8rem;max-width:44rem}}.soft{{color:var(--soft)}}
.wide{{overflow-x:auto}}table{{border-collapse:collapse;font-variant-numeric:tabular-nums}}
th,td{{padding:.3rem .9rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);overflow-wrap:anywhere}}
th[scope=row]{{font-weight:400;color:var(--soft);white-space:nowrap}}td{{min-width:8rem}}
.charts{{display:grid;gap:1.4rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,21rem),1fr))}}
figure{{margin:0;break-inside:avoid}}figcaption{{font-weight:600;margin-bottom:.2rem}}
svg{{display:block;width:100%;height:auto;max-width:34rem}}svg text{{fill:var(--soft);font-size:12px}}
.grid{{stroke:var(--line);stroke-width:1}}polyline{{fill:none!important;stroke-width:2;stroke-linejoin:round}}.again{{stroke-dasharray:5 3}}
circle{{stroke:none}}
.legend{{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;padding:0;margin:.4rem 0 1rem}}
.legend i{{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.45em}}
{_USES}
.features{{display:grid;grid-template-columns:minmax(6rem,max-content) minmax(4rem,1fr) max-content;gap:.15rem .7rem;align-items:center}}
.features bdi{{overflow-wrap:anywhere;font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.86em}}
.features span{{text-align:right;font-variant-numeric:tabular-nums;font-size:.9em}}
.features svg{{height:.8rem;max-width:none}}.features svg line{{stroke:var(--soft)}}
details{{margin:.6rem 0}}summary{{cursor:pointer;color:var(--soft)}}
code,pre{{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.86rem;white-space:pre-wrap;overflow-wrap:anywhere}}
ul.bad{{background:var(--field);padding:.6rem 1rem .6rem 2rem;border-radius:4px;font-size:.9rem}}
@media print{{:root{{--paper:#fff;--ink:#000;--soft:#444;--line:#ccc;--field:#fff;{_colours(LIGHT)}}}
html{{font-size:11px}}body{{max-width:none;padding:0;font-size:1rem}}h2,h3,.legend{{break-after:avoid}}.wide{{overflow:visible}}
details::details-content{{content-visibility:visible;block-size:auto}}*{{print-color-adjust:exact}}}}
"""
