import { queryEscape, Secret } from "@millwright/base";
import { containsPlaceholder, userDataPlaceholders } from "@millwright/core/machine-api";

const { bootstrapToken, machineName } = userDataPlaceholders;

/** All occurrences of a placeholder replaced; the query-escaped form only where the plain one does not occur (MCM, `pkg/util/provider/machinecontroller/userdata.go`). */
function replace(text: string, placeholder: string, value: string): string {
  if (text.includes(placeholder)) return text.replaceAll(placeholder, () => value);
  return text.replaceAll(queryEscape(placeholder), () => queryEscape(value));
}

/** Whether user data asks for a bootstrap token. */
export const asksForToken = (template: Secret): boolean => containsPlaceholder(template.reveal(), bootstrapToken);

/**
 * User data for one machine: the token first, then the name, as MCM does. Data without placeholders passes byte for byte, so that it may be binary; without a
 * token, where there is no cluster to join, its placeholder stays.
 */
export function userDataFor(name: string, template: Secret, token: Secret | undefined): Secret {
  const text = template.reveal();
  const withToken = token === undefined ? text : replace(text, bootstrapToken, token.reveal());
  const made = replace(withToken, machineName, name);
  return made === text ? template : Secret.of(made);
}
