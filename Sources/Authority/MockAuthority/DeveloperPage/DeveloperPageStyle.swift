/// The look of the developer page, in the colours of the other pages: light and dark, from a phone's width on.
enum DeveloperPageStyle {
    static let text = PageStyle.colours + ground + rows + controls

    private static let ground = """
        *{box-sizing:border-box}
        [hidden]{display:none!important}
        html{scroll-padding-top:1rem}
        body{font:1rem/1.5 Inter,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;margin:0 auto;padding:1.25rem;\
        max-width:60rem;background:var(--ground);color:var(--ink);-webkit-text-size-adjust:100%;overflow-wrap:anywhere}
        .overline,footer,time{font-size:.8125rem;color:var(--soft)}
        .overline{margin:0}
        h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem}
        h2{font-size:1.125rem;margin:0 0 .75rem}
        h3{font-size:1rem;margin:1.25rem 0 .5rem}
        p{margin:.5rem 0}
        section{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:1.25rem;margin:1rem 0;\
        box-shadow:var(--shadow)}
        nav ul{list-style:none;margin:.5rem 0;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1rem}
        nav a{display:inline-block;min-height:1.5rem}
        .tenants span{font-weight:400;color:var(--soft)}
        [aria-current]{font-weight:700;text-decoration:none;border-bottom:3px solid var(--accent)}
        a{color:var(--accent)}
        :focus-visible{outline:3px solid var(--accent);outline-offset:2px}
        .alert{background:var(--tint);color:var(--bad);border-radius:10px;padding:.75rem 1rem}
        .done{border:1px solid var(--accent);border-radius:10px;padding:.75rem 1rem}
        #said{position:fixed;left:1rem;bottom:1rem;margin:0;background:var(--ink);color:var(--ground);\
        border-radius:10px;padding:.5rem .75rem}
        #said:empty{display:none}

        """

    private static let rows = """
        .rows{list-style:none;margin:0;padding:0}
        .rows li{border-top:1px solid var(--line);padding:.5rem 0}
        .rows li:first-child{border-top:0}
        .rows ul{margin:.25rem 0}
        .rows ul li{border:0;padding:0}
        summary{cursor:pointer;min-height:1.5rem}
        .mark{font-size:.8125rem;border:1px solid var(--edge);border-radius:6px;padding:0 .375rem}
        .mark.bad{color:var(--bad);border-color:currentcolor}
        code,pre,.target,textarea{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.8125rem}
        pre{white-space:pre-wrap;margin:.5rem 0;padding:.75rem;background:var(--ground);border:1px solid var(--line);\
        border-radius:10px}
        dl{font-size:.8125rem;margin:.5rem 0}
        dt{font-weight:600}
        dd{margin:0 0 .25rem}
        .unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}

        """

    private static let controls = """
        .fields{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(16rem,100%),1fr));gap:.5rem 1rem}
        .field{margin:0;min-width:0}
        .wide{grid-column:1/-1}
        label{font-weight:600;font-size:.9375rem}
        input,select,textarea{width:100%;font-size:1rem;color:inherit;background:var(--ground);min-height:2.5rem;\
        padding:.375rem .625rem;border:1px solid var(--edge);border-radius:10px}
        input,select{font-family:inherit}
        input[type=checkbox]{width:1.25rem;min-height:1.25rem;height:1.25rem;vertical-align:middle;\
        accent-color:var(--accent)}
        button{font:inherit;min-height:2.5rem;padding:.25rem .875rem;border-radius:10px;cursor:pointer;\
        border:1px solid var(--edge);background:var(--card);color:var(--accent);font-weight:600}
        button:hover{background:var(--ground)}
        button.small{min-height:1.75rem;padding:0 .625rem;font-size:.875rem}
        button.primary{background:var(--accent);color:var(--on);border-color:transparent}
        button.primary:hover{background:var(--deep)}
        button.danger{color:var(--bad)}
        .buttons{display:flex;flex-wrap:wrap;gap:.5rem}
        """
}
