import { h } from "preact";
import { Departures } from "./departures.js";
import { Deployments } from "./deployments.js";
import { Details } from "./details.js";
import { Header } from "./header.js";
import { Machines } from "./machines.js";

/** @import { App } from "../app.js" */

/** @param {{ readonly app: App }} props */
function TokenForm({ app }) {
  return h(
    "main",
    { class: "token" },
    h("h2", null, "Sign in"),
    h("p", null, "Enter a bearer token of a user who may get machines, for example from "),
    h("pre", { tabIndex: 0, "aria-label": "Command" }, "kubectl create token NAME --namespace NAMESPACE"),
    app.connection.problem !== "" && h("p", { class: "attention" }, app.connection.problem),
    h(
      "form",
      {
        onSubmit: (/** @type {import("preact").TargetedSubmitEvent<HTMLFormElement>} */ event) => {
          event.preventDefault();
          const field = event.currentTarget.elements.namedItem("token");
          if (field instanceof HTMLInputElement) app.act.useToken(field.value);
        },
      },
      h("input", { name: "token", type: "password", "aria-label": "Token", autocomplete: "off", required: true }),
      h("button", { type: "submit", class: "chip" }, "Continue"),
    ),
    h("p", { class: "quiet small" }, "The token is kept in this page only: after a reload it is needed again."),
  );
}

/** The whole page. @param {{ readonly app: App }} props */
export function Page({ app }) {
  return h(
    "div",
    { class: app.opened === undefined ? "shell" : "shell with-details" },
    h(Header, { app }),
    app.connection.state === "token"
      ? h(TokenForm, { app })
      : h("main", null, h(Deployments, { app }), h(Departures, { app }), h(Machines, { app })),
    app.connection.state !== "token" && h(Details, { app }),
    h(
      "footer",
      { class: "quiet small" },
      "Read-only. ",
      h("kbd", null, "j"),
      " ",
      h("kbd", null, "k"),
      " move, ",
      h("kbd", null, "/"),
      " filter, ",
      h("kbd", null, "enter"),
      " open, ",
      h("kbd", null, "esc"),
      " close",
    ),
  );
}
