"""What axe-core finds on a page, of any weight, in every look that a system can ask for."""

import functools
import itertools
import json
import pathlib

import axe_core_python

# The colour scheme, and whether the system replaces the colours by its own.
LOOKS = [("light", "none"), ("dark", "none"), ("light", "active"), ("dark", "active")]
SIZES = [(360, 740), (1280, 900)]

# Chromium gives what is in closed details a place, below what follows them, and axe takes it for visible.
CLOSED = """
    const closed = new CSSStyleSheet();
    closed.replaceSync("details:not([open]) > :not(summary) { display: none }");
    document.adoptedStyleSheets = [closed];
"""

# Not what passes, too: describing every element that is good takes most of the time.
VIOLATIONS = """
    const [done] = arguments;
    axe.run({resultTypes: ["violations"]}).then(({violations}) => done(violations), (error) => done(String(error)));
"""


@functools.cache
def source():
    return (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()


def findings(chrome):
    if not chrome.execute_script("return 'axe' in window"):
        chrome.execute_script(source() + CLOSED)
    # Rows may still be fading in, and a half transparent text has less contrast.
    chrome.execute_script("""
        const isEndless = ({ effect }) => effect.getComputedTiming().endTime === Infinity; // the dot of the status breathes
        for (const animation of document.getAnimations()) if (!isEndless(animation)) animation.finish();""")
    violations = chrome.execute_async_script(VIOLATIONS)
    if not isinstance(violations, list):
        raise AssertionError(violations)
    return [(finding["id"], finding["help"], [(node["html"][:120], node["failureSummary"]) for node in finding["nodes"]])
            for finding in violations]


def check_looks(test, where):
    """Fails a test with all that is found in any look, on a phone and on a desktop."""
    found = {}
    for (scheme, forced), size in itertools.product(LOOKS, SIZES):
        test.chrome.prefer(scheme, forced=forced)
        test.chrome.size(*size)
        if here := findings(test.chrome):
            found[f"{scheme}, forced colours {forced}, {size}"] = here
    test.chrome.prefer()
    test.assertEqual(found, {}, f"{where}: {json.dumps(found, indent=1)}")
