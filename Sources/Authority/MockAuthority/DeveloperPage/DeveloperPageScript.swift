/// The script of the developer page: it adds rows that came since, and copies.
///
/// Without it, everything else works.
enum DeveloperPageScript {
    static let text = #"""
        const requests = document.getElementById("request-rows");
        const tokens = document.getElementById("token-rows");
        const faults = document.getElementById("waiting-faults");
        const watching = document.getElementById("watch");
        const said = document.getElementById("said");

        function say(text) {
          said.textContent = text;
        }

        // What needs the script is hidden until it runs.
        function reveal(root) {
          for (const element of root.querySelectorAll(".script")) element.hidden = false;
        }

        const last = (list) => Number(list.firstElementChild?.dataset.number ?? 0);

        function put(list, rows) {
          list.prepend(...rows);
          while (list.children.length > Number(requests.dataset.most)) list.lastElementChild.remove();
        }

        // Rows that are open stay as they are: only new ones are added, unless the run was reset.
        function show(news) {
          reveal(news);
          const run = news.querySelector("[data-run]").dataset.run;
          if (run !== requests.dataset.run) {
            requests.replaceChildren();
            tokens.replaceChildren();
            requests.dataset.run = run;
          }
          put(requests, [...news.getElementById("new-requests").children]);
          put(tokens, [...news.getElementById("new-tokens").children]);
          const changed = news.getElementById("new-faults");
          faults.dataset.changes = changed.dataset.changes;
          faults.replaceChildren(...changed.children);
        }

        async function look() {
          const url = new URL(requests.dataset.live, location.href);
          url.searchParams.set("of", requests.dataset.run);
          url.searchParams.set("requests", last(requests));
          url.searchParams.set("tokens", last(tokens));
          url.searchParams.set("faults", faults.dataset.changes);
          const answer = await fetch(url, { cache: "no-store" });
          if (answer.status === 200) show(new DOMParser().parseFromString(await answer.text(), "text/html"));
        }

        let isAway = false;

        async function watch() {
          if (watching.checked && !document.hidden) {
            try {
              await look();
              if (isAway) say("");
              isAway = false;
            } catch {
              if (!isAway) say("The mock does not answer.");
              isAway = true;
            }
          }
          setTimeout(watch, 1000);
        }

        async function textOf(button) {
          if (button.dataset.copy) return button.dataset.copy;
          if ("copyNext" in button.dataset) return button.closest("details").querySelector("pre").textContent;
          const form = button.form;
          const target = button.dataset.copyFrom ?? `${form.action}?${new URLSearchParams(new FormData(form))}`;
          const answer = await fetch(target, { cache: "no-store", headers: { Accept: "text/plain" } });
          const text = (await answer.text()).trim();
          if (!answer.ok) throw new Error(text);
          return text;
        }

        document.addEventListener("click", async (event) => {
          const button = event.target.closest("button.script");
          if (!button) return;
          say("");
          try {
            await navigator.clipboard.writeText(await textOf(button));
            say("Copied.");
          } catch (error) {
            say(`Not copied: ${error.message}`);
          }
        });

        reveal(document);
        watch();

        """#
}
