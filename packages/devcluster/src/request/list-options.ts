import { forbiddenValue, notSupported } from "../errors/field-errors.ts";
import { badRequest, type Cause, invalid } from "../errors/status-error.ts";

const listOptions = { group: "meta.k8s.io", plural: "listoptions", kind: "ListOptions" };

/** Validates the options of a list or watch. Throws 400 for malformed ones, 422 for contradictory ones. */
export function checkListOptions(query: URLSearchParams): void {
  for (const name of ["limit", "timeoutSeconds"]) {
    const value = query.get(name) ?? "";
    if (value !== "" && !/^[-+]?\d+$/.test(value)) {
      throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
    }
  }
  const causes = isWatch(query) ? watchProblems(query) : listProblems(query);
  if (causes.length > 0) throw invalid(listOptions, "", causes);
}

/** Whether a query asks for a watch. Go takes every value but those for false as true. */
export function isWatch(query: URLSearchParams): boolean {
  const value = query.get("watch");
  return value !== null && !["false", "0"].includes(value.toLowerCase());
}

function listProblems(query: URLSearchParams): readonly Cause[] {
  const causes: Cause[] = [];
  const match = query.get("resourceVersionMatch") ?? "";
  const version = query.get("resourceVersion") ?? "";
  if (match !== "") {
    if (version === "")
      causes.push(
        forbiddenValue("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided"),
      );
    if (query.get("continue"))
      causes.push(
        forbiddenValue("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"),
      );
    if (match !== "Exact" && match !== "NotOlderThan")
      causes.push(notSupported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]));
    if (match === "Exact" && version === "0") {
      causes.push(
        forbiddenValue("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
      );
    }
  }
  if (query.get("sendInitialEvents") !== null) {
    causes.push(forbiddenValue("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  return causes;
}

function watchProblems(query: URLSearchParams): readonly Cause[] {
  const causes: Cause[] = [];
  const match = query.get("resourceVersionMatch") ?? "";
  const asksInitialEvents = query.get("sendInitialEvents") !== null;
  if (asksInitialEvents && match !== "NotOlderThan") {
    causes.push(
      forbiddenValue("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
    );
  }
  if (match !== "") {
    if (!asksInitialEvents) {
      causes.push(
        forbiddenValue(
          "resourceVersionMatch",
          "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
      );
    }
    if (match !== "NotOlderThan") causes.push(notSupported("resourceVersionMatch", match, ["NotOlderThan"]));
    if (query.get("continue")) {
      causes.push(
        forbiddenValue("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"),
      );
    }
  }
  return causes;
}
