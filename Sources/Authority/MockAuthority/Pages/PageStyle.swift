/// The look: readable on a phone, with a visible focus, in light and dark, in the colours of the to-do page.
enum PageStyle {
    static let text = colours + ground + controls

    static let colours = """
        :root{color-scheme:light dark;--ground:#f5f4ef;--card:#fffefb;--ink:#17201d;--soft:#59635f;--line:#dfddd4;\
        --edge:#858d88;--accent:#0b6b5c;--deep:#08564a;--on:#fff;--bad:#a3281d;--tint:#fbe9e6;\
        --shadow:0 1px 2px rgb(30 40 36/6%),0 8px 28px -12px rgb(30 40 36/18%)}
        @media(prefers-color-scheme:dark){:root{--ground:#101513;--card:#191f1d;--ink:#ebf0ed;--soft:#9faba6;\
        --line:#2b3431;--edge:#73807a;--accent:#58d3b8;--deep:#86e2cd;--on:#06241e;--bad:#ff9d8f;--tint:#3a1e1a;\
        --shadow:none}}

        """

    private static let ground = """
        *{box-sizing:border-box}
        body{font:1rem/1.5 Inter,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;margin:0;padding:1.25rem;\
        min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;align-items:center;\
        justify-content:center;gap:1rem;background:var(--ground);color:var(--ink);-webkit-text-size-adjust:100%}
        main{width:100%;max-width:25rem;background:var(--card);border:1px solid var(--line);border-radius:14px;\
        padding:1.75rem 1.5rem;box-shadow:var(--shadow);overflow-wrap:anywhere}
        .overline{margin:0 0 .25rem;font-size:.8125rem;color:var(--soft)}
        h1{font-size:1.5rem;line-height:1.25;letter-spacing:-.01em;margin:0 0 1.25rem}
        p{margin:0}
        footer{max-width:25rem;font-size:.8125rem;color:var(--soft);text-align:center;text-wrap:balance}

        """

    private static let controls = """
        label{display:block;margin:1rem 0 .375rem;font-weight:600;font-size:.9375rem}
        input{width:100%;font:inherit;color:inherit;background:var(--ground);min-height:2.75rem;padding:.5rem .75rem;\
        border:1px solid var(--edge);border-radius:10px}
        button{width:100%;font:inherit;min-height:2.75rem;padding:.5rem .75rem;margin-top:.5rem;border-radius:10px;\
        cursor:pointer;border:1px solid transparent;background:none;color:var(--accent);font-weight:500}
        button:hover{background:var(--ground)}
        button.primary{margin-top:1.5rem;background:var(--accent);color:var(--on);font-weight:600}
        button.primary:hover{background:var(--deep)}
        .aside{margin-top:1rem;padding-top:1rem;border-top:1px solid var(--line);text-align:center;color:var(--soft)}
        a{color:var(--accent);font-weight:500}
        :focus-visible{outline:3px solid var(--accent);outline-offset:2px}
        [role=alert]{background:var(--tint);color:var(--bad);border-radius:10px;padding:.75rem 1rem}
        """
}
