export { parseYaml, toYaml } from "./yaml.ts";
