import { MachineError, Secret, userDataPlaceholders } from "@millwright/core";

/** All occurrences of a placeholder replaced; the query-escaped form only where the plain one does not occur (machine-controller.md, 3.5). */
function replace(text: string, placeholder: string, value: string): string {
  if (text.includes(placeholder)) return text.replaceAll(placeholder, () => value);
  return text.replaceAll(encodeURIComponent(placeholder), () => encodeURIComponent(value));
}

const contains = (text: string, placeholder: string): boolean =>
  text.includes(placeholder) || text.includes(encodeURIComponent(placeholder));

/**
 * User data for one machine. Data without placeholders passes byte for byte, so that it may be binary.
 *
 * @throws MachineError InvalidArgument when it asks for a bootstrap token: a node that boots with the placeholder would never join
 */
export function userDataFor(machineName: string, template: Secret): Secret {
  const text = template.reveal();
  if (contains(text, userDataPlaceholders.bootstrapToken)) {
    const placeholder = userDataPlaceholders.bootstrapToken;
    throw new MachineError(
      "InvalidArgument",
      `key "userData" contains ${placeholder}, which this version does not replace yet`,
    );
  }
  return contains(text, userDataPlaceholders.machineName)
    ? Secret.of(replace(text, userDataPlaceholders.machineName, machineName))
    : template;
}
