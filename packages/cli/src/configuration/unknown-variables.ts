import { nearestName } from "@millwright/base";
import { type EffectiveFlag, variableOf } from "./read-configuration.ts";

/** An environment variable that changes nothing, and why. */
export interface UnknownVariable {
  readonly variable: string;
  readonly because: string;
}

/** What Kubernetes sets in a pod for each Service, such as one named `millwright-dashboard` (Kubernetes documentation, "Environment variables" of Services). */
const isOfService = (name: string, text: string): boolean =>
  /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)/.test(name) || /^(tcp|udp|sctp):\/\//.test(text);

/** Variables with the prefix of ours that are those of no flag, as after a misspelling: their authors rely on them. */
export function unknownVariables(
  flags: readonly EffectiveFlag[],
  env: Readonly<Record<string, string | undefined>>,
): readonly UnknownVariable[] {
  const known = flags.map(({ name }) => variableOf(name));
  return Object.entries(env)
    .filter(([name, text = ""]) => name.startsWith(variableOf("")) && !known.includes(name) && !isOfService(name, text))
    .map(([variable]) => {
      const near = nearestName(variable, known);
      return { variable, because: `no flag has this variable${near === undefined ? "" : `; did you mean ${near}?`}` };
    });
}
