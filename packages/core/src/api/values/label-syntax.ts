const namePattern = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const subdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Longest label value and longest name part of a key. Source: kubernetes.io, "Labels and Selectors", syntax. */
export const longestLabelValue = 63;

/** Longest object name and longest prefix of a key. Source: kubernetes.io, "Object Names and IDs". */
export const longestName = 253;

/** Why the API server rejects a text as the name of an object, in its words; undefined when it does not. */
export function nameProblem(name: string): string | undefined {
  if (name.length > longestName) return `must be no more than ${longestName} characters`;
  return subdomainPattern.test(name)
    ? undefined
    : "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
}

/** Why a text is not a valid key of a label, annotation, taint or finalizer; undefined for a valid key. */
export function labelKeyProblem(key: string): string | undefined {
  const slash = key.indexOf("/");
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  const name = key.slice(slash + 1);
  if (prefix !== undefined && (prefix.length > longestName || !subdomainPattern.test(prefix))) {
    return "must have a DNS name in lower case before the slash";
  }
  if (name.length > longestLabelValue || !namePattern.test(name)) {
    return `must be 1 to ${longestLabelValue} letters, digits, '-', '_' or '.', with a letter or digit at both ends`;
  }
  return undefined;
}

/** Why a text is not a valid label value; undefined for a valid value, such as the empty text. */
export function labelValueProblem(value: string): string | undefined {
  if (value === "" || (value.length <= longestLabelValue && namePattern.test(value))) return undefined;
  return `must be empty or up to ${longestLabelValue} letters, digits, '-', '_' or '.', with a letter or digit at both ends`;
}
