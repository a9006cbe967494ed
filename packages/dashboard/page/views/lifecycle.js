import { h } from "preact";

/**
 * The steps of a machine's life as a bar: those that are over, the current one, those to come. The end of its life is set apart.
 *
 * @param {object} props
 * @param {readonly string[]} props.steps
 * @param {number} props.step
 * @param {"ok" | "busy" | "warn" | "bad"} props.tone
 */
export const LifecycleBar = ({ steps, step, tone }) =>
  h(
    "span",
    { class: `bar ${tone}`, "aria-hidden": true },
    steps.map((name, index) =>
      h("span", {
        key: name,
        class: `segment ${index < step ? "over" : index === step ? "now" : "next"}${name === "Drain" ? " apart" : ""}`,
        title: name,
      }),
    ),
  );
