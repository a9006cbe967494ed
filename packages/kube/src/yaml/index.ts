export { fieldLines } from "./field-lines.ts";
export type { FieldLines } from "./field-lines.ts";
export { parseYaml, toYaml } from "./yaml.ts";
