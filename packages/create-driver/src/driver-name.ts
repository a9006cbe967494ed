import { isBuiltin } from "node:module";

const label = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
const pattern = new RegExp(`^(?:@${label}/)?${label}(?:\\.${label})*$`);

/** A machine of the example is called like the driver, with two suffixes, and its node must fit into 63 characters. */
const maxDriverName = 40;
const maxScope = 150;

/**
 * Why a text cannot be the name of a driver's package; undefined if it can. The part after the scope is also the name of the driver, of its folder and of Kubernetes objects, so the rules of
 * all of these hold.
 */
export function nameProblem(name: string): string | undefined {
  const isTooLong = driverNameOf(name).length > maxDriverName || name.length > maxDriverName + maxScope;
  if (isTooLong || !pattern.test(name))
    return `${JSON.stringify(name.slice(0, 100))} cannot be the name of a driver: use up to ${maxDriverName} lowercase letters, digits and dashes, such as my-cloud or @my-scope/my-cloud`;
  if (isBuiltin(name) || name === "favicon.ico")
    return `${JSON.stringify(name)} cannot be the name of a driver: npm reserves it`;
  return undefined;
}

/** The name of the driver in a package: what follows the scope. */
export const driverNameOf = (name: string): string => name.slice(name.indexOf("/") + 1);
