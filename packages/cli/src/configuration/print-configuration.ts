import { toYaml } from "@millwright/kube/yaml";
import type { EffectiveFlag } from "./read-configuration.ts";

/** Flags as a configuration file, with the source of each as a comment. A flag without a value is a comment as a whole. */
export function renderConfiguration(flags: readonly EffectiveFlag[]): string {
  return flags
    .map(({ name, value, source }) => {
      const text = toYaml(value, { isInline: true });
      return value === "" ? `# ${name}: not set` : `${name}: ${text} # ${source}`;
    })
    .map((line) => `${line}\n`)
    .join("");
}
