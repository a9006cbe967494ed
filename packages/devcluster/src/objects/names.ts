const labelText = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomainText = `${labelText}(\\.${labelText})*`;
const labelName = new RegExp(`^${labelText}$`);
const subdomainName = new RegExp(`^${subdomainText}$`);
const qualifiedNamePart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

/** The errors of an object name, in the words of Kubernetes: a DNS label or a DNS subdomain. */
export function nameErrors(name: string, rule: "label" | "subdomain" | "path"): readonly string[] {
  const errors: string[] = [];
  if (rule === "path") return pathSegmentErrors(name);
  if (rule === "label") {
    if (name.includes(".")) return ["must not contain dots"];
    if (name.length > 63) errors.push("must be no more than 63 characters");
    if (!labelName.test(name)) {
      errors.push(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end " +
          `with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${labelText}')`,
      );
    }
    return errors;
  }
  if (name.length > 253) errors.push("must be no more than 253 characters");
  if (!subdomainName.test(name)) {
    errors.push(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
        `and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomainText}')`,
    );
  }
  return errors;
}

const qualifiedNameRule =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
  "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/** The errors of a label key, in the words of Kubernetes. */
export function qualifiedNameErrors(key: string): readonly string[] {
  const parts = key.split("/");
  if (parts.length > 2) {
    return [
      `a valid label key ${qualifiedNameRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? "";
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const errors: string[] = [];
  if (prefix === "") errors.push("prefix part must be non-empty");
  else if (prefix !== undefined) errors.push(...nameErrors(prefix, "subdomain").map((why) => `prefix part ${why}`));
  if (name === "") errors.push("name part must be non-empty");
  else if (name.length > 63) errors.push("name part must be no more than 63 bytes");
  if (!qualifiedNamePart.test(name)) errors.push(`name part ${qualifiedNameRule}`);
  return errors;
}

/** The errors of a label value, in the words of Kubernetes. */
export function labelValueErrors(value: string): readonly string[] {
  const errors: string[] = [];
  if (value.length > 63) errors.push("must be no more than 63 bytes");
  if (value !== "" && !qualifiedNamePart.test(value)) {
    errors.push(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
        "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    );
  }
  return errors;
}

function pathSegmentErrors(name: string): readonly string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((text) => name.includes(text)).map((text) => `may not contain '${text}'`);
}

const label1035Rule =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end " +
  "with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** The errors of a DNS-1035 label, in the words of Kubernetes. */
export function label1035Errors(text: string): readonly string[] {
  const errors = /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(text) ? [] : [label1035Rule];
  return text.length > 63 ? ["must be no more than 63 bytes", ...errors] : errors;
}
