import { label1035Errors } from "../../objects/names.ts";
import { arrayAt, at, type JsonObject, stringAt } from "../../json/json.ts";
import { plainText, quoted } from "../../json/quoting.ts";
import type { Cause } from "../../errors/status-error.ts";
import { nameErrors } from "../../objects/names.ts";
import { invalidValue, notSupported, required } from "../../errors/field-errors.ts";

/** Validates that the name of a CRD fits its plural and group. */
export function nameProblems(crd: JsonObject): readonly Cause[] {
  const group = stringAt(crd, "spec", "group") ?? "";
  const plural = stringAt(crd, "spec", "names", "plural") ?? "";
  const name = stringAt(crd, "metadata", "name") ?? "";
  return name === `${plural}.${group}`
    ? []
    : [invalidValue("metadata.name", name, 'must be spec.names.plural+"."+spec.group')];
}

const protectedGroup = /(?:^|\.)(?:k8s|kubernetes)\.io$/;
const approval = "api-approved.kubernetes.io";

/** Validates the group and the scope. */
export function groupProblems(crd: JsonObject): readonly Cause[] {
  const group = stringAt(crd, "spec", "group") ?? "";
  const scope = stringAt(crd, "spec", "scope") ?? "";
  const groupErrors = group === "" ? [required("spec.group")] : groupSyntax(group);
  const scopes =
    scope === "" ? [required("spec.scope")] : [notSupported("spec.scope", scope, ["Cluster", "Namespaced"])];
  return [...groupErrors, ...(scope === "Cluster" || scope === "Namespaced" ? [] : scopes)];
}

function groupSyntax(group: string): readonly Cause[] {
  const errors = nameErrors(group, "subdomain").map((why) => invalidValue("spec.group", group, why));
  if (errors.length > 0 || group.includes(".")) return errors;
  return [invalidValue("spec.group", group, "should be a domain with at least one dot")];
}

/** Groups of Kubernetes itself need its approval. */
export function approvalProblems(crd: JsonObject): readonly Cause[] {
  const group = stringAt(crd, "spec", "group") ?? "";
  if (!protectedGroup.test(group) || stringAt(crd, "metadata", "annotations", approval)) return [];
  const why =
    `protected groups must have approval annotation "${approval}", see ` +
    "https://github.com/kubernetes/enhancements/pull/1111";
  return [required(`metadata.annotations[${approval}]`, why)];
}

/** Validates the names under which a resource is served. */
export function servedNameProblems(crd: JsonObject): readonly Cause[] {
  const names = at(crd, "spec", "names");
  const text = (key: string): string => stringAt(names, key) ?? "";
  const asLabel = (key: string): readonly Cause[] => {
    const value = text(key);
    return value === ""
      ? [required(`spec.names.${key}`)]
      : label1035Errors(value).map((why) => invalidValue(`spec.names.${key}`, value, why));
  };
  const asKind = (key: string): readonly Cause[] => {
    const value = text(key);
    if (value === "") return [required(`spec.names.${key}`)];
    return label1035Errors(value.toLowerCase()).map((why) =>
      invalidValue(`spec.names.${key}`, value, `may have mixed case, but should otherwise match: ${why}`),
    );
  };
  const asLabels = (key: string): readonly Cause[] =>
    arrayAt(names, key).flatMap((item, index) =>
      label1035Errors(plainText(item)).map((why) => invalidValue(`spec.names.${key}[${index}]`, plainText(item), why)),
    );
  const sameKind =
    text("kind") !== "" && text("kind") === text("listKind")
      ? [invalidValue("spec.names.listKind", text("listKind"), "kind and listKind may not be the same")]
      : [];
  return [
    ...asLabel("plural"),
    ...asLabel("singular"),
    ...asKind("kind"),
    ...asKind("listKind"),
    ...asLabels("shortNames"),
    ...sameKind,
    ...asLabels("categories"),
  ];
}

/** Validates how objects are converted between versions. */
export function conversionProblems(crd: JsonObject): readonly Cause[] {
  const strategy = stringAt(crd, "spec", "conversion", "strategy") ?? "";
  if (strategy === "") return [required("spec.conversion.strategy")];
  if (strategy === "None") return [];
  if (strategy !== "Webhook") return [notSupported("spec.conversion.strategy", strategy, ["None", "Webhook"])];
  const webhook = at(crd, "spec", "conversion", "webhook");
  return [
    ...(at(webhook, "clientConfig") === undefined
      ? [required("spec.conversion.webhookClientConfig", "required when strategy is set to Webhook")]
      : []),
    ...(arrayAt(webhook, "conversionReviewVersions").length === 0
      ? [required("spec.conversion.conversionReviewVersions")]
      : []),
  ];
}

/** Versions, as Go prints them in an error about all of them. */
export function shownVersions(crd: JsonObject): string {
  return quoted(
    arrayAt(crd, "spec", "versions").map((version) => ({
      Name: stringAt(version, "name") ?? "",
      Served: at(version, "served") === true,
      Storage: at(version, "storage") === true,
      Deprecated: at(version, "deprecated") === true,
      DeprecationWarning: at(version, "deprecationWarning") ?? null,
      Schema: null,
      Subresources: null,
      AdditionalPrinterColumns: null,
      SelectableFields: null,
    })),
  );
}
