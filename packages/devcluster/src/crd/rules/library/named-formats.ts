import { type Environment, Optional } from "@marcbachmann/cel-js";
import { labelValueErrors, nameErrors, qualifiedNameErrors } from "../../../objects/names.ts";
import { label1035Errors } from "../../../objects/names.ts";
import { stringFormats } from "../../formats/formats.ts";

type Check = (text: string) => readonly string[];

const byFormat =
  (name: string, why: string): Check =>
  (text) =>
    stringFormats[name]?.(text) === true ? [] : [why];

/** A prefix, to which a suffix is added, may end in a dash. */
const asPrefix =
  (check: Check): Check =>
  (text) =>
    check(text.endsWith("-") ? `${text.slice(0, -1)}a` : text);

const label: Check = (text) => nameErrors(text, "label");
const subdomain: Check = (text) => nameErrors(text, "subdomain");

/** The named formats. Source: Kubernetes documentation, "Kubernetes format library". */
const checks: Readonly<Record<string, Check>> = {
  dns1123Label: label,
  dns1123Subdomain: subdomain,
  dns1035Label: label1035Errors,
  qualifiedName: qualifiedNameErrors,
  dns1123LabelPrefix: asPrefix(label),
  dns1123SubdomainPrefix: asPrefix(subdomain),
  dns1035LabelPrefix: asPrefix(label1035Errors),
  labelValue: labelValueErrors,
  uri: byFormat("uri", "invalid URI"),
  uuid: byFormat("uuid", "does not match the UUID format"),
  byte: byFormat("byte", "invalid base64"),
  date: byFormat("date", "invalid date"),
  datetime: byFormat("datetime", "invalid datetime"),
};

class Format {
  readonly #check: Check;

  constructor(check: Check) {
    this.#check = check;
  }

  validate(text: string): Optional {
    const errors = this.#check(text);
    return errors.length === 0 ? Optional.none() : Optional.of([...errors]);
  }
}

class FormatFunctions {
  readonly namespace = "format";
}

/** Adds `format.dns1123Label()` and the other formats, and `format.named()`. */
export function addNamedFormats(environment: Environment): Environment {
  const formats = new Map(Object.entries(checks).map(([name, check]) => [name, new Format(check)]));
  environment
    .registerType("Format", Format)
    .registerType("FormatFunctions", FormatFunctions)
    .registerConstant("format", "FormatFunctions", new FormatFunctions())
    .registerFunction("FormatFunctions.named(string): optional<Format>", (_: FormatFunctions, name: string) => {
      const format = formats.get(name);
      return format === undefined ? Optional.none() : Optional.of(format);
    })
    .registerFunction("Format.validate(string): optional<list<string>>", (format: Format, text: string) =>
      format.validate(text),
    );
  for (const [name, format] of formats) environment.registerFunction(`FormatFunctions.${name}(): Format`, () => format);
  return environment;
}
