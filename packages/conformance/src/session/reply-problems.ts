import { isRecord } from "@millwright/base";

const isText = (value: unknown): value is string => typeof value === "string";
const isFilled = (value: unknown): boolean => isText(value) && value !== "" && value.isWellFormed();

/** Problems of a response about a VM. */
function vmProblems(reply: Readonly<Record<string, unknown>>): readonly string[] {
  const problems: string[] = [];
  if (!isFilled(reply["providerId"])) problems.push("has no providerId");
  else if (/\p{Cc}/u.test(String(reply["providerId"]))) problems.push("has a providerId with control characters");
  if (!isFilled(reply["nodeName"])) problems.push("has no nodeName");
  if (reply["initialized"] !== undefined && typeof reply["initialized"] !== "boolean")
    problems.push("has an initialized that is not a boolean");
  return problems;
}

function pendingProblems(pending: unknown): readonly string[] {
  if (!isRecord(pending)) return ["is pending without message and checkAfterMs"];
  const problems: string[] = [];
  if (!isText(pending["message"]) || pending["message"].trim() === "") problems.push("is pending without a message");
  const ms = pending["checkAfterMs"];
  if (typeof ms !== "number" || !(ms >= 0)) problems.push("is pending without checkAfterMs in milliseconds");
  return problems;
}

function listProblems(reply: Readonly<Record<string, unknown>>): readonly string[] {
  const machines = reply["machines"];
  if (!Array.isArray(machines)) return ["has no machines"];
  const bad = machines.find(
    (vm: unknown) => !isRecord(vm) || !isFilled(vm["providerId"]) || !isFilled(vm["machineName"]),
  );
  return bad === undefined ? [] : ["has a VM without providerId or machineName"];
}

function driftProblems(reply: Readonly<Record<string, unknown>>): readonly string[] {
  const differences = reply["differences"];
  if (!isFilled(reply["providerId"])) return ["has no providerId"];
  if (!Array.isArray(differences)) return ["has no differences"];
  const isDifference = (each: unknown): boolean =>
    isRecord(each) && isFilled(each["field"]) && isText(each["wanted"]) && isText(each["found"]);
  return differences.every(isDifference) ? [] : ["has a difference without field, wanted and found"];
}

const statuses: readonly unknown[] = ["ok", "warning", "failed", "skipped"];

function checkProblems(reply: Readonly<Record<string, unknown>>): readonly string[] {
  const checks = reply["checks"];
  if (!Array.isArray(checks)) return ["has no checks"];
  const isCheck = (each: unknown): boolean =>
    isRecord(each) && isFilled(each["name"]) && isText(each["message"]) && statuses.includes(each["status"]);
  return checks.every(isCheck) ? [] : ["has a check without name, status or message"];
}

const endings: readonly unknown[] = [undefined, "ended", "missing"];

/** Where a response differs from what the contract declares, as ends of the sentence "The response of METHOD …". */
export function replyProblems(method: string, reply: unknown): readonly string[] {
  if (!isRecord(reply)) return ["is not an object"];
  switch (method) {
    case "createMachine":
      return reply["pending"] === undefined ? vmProblems(reply) : pendingProblems(reply["pending"]);
    case "deleteMachine":
      if (reply["pending"] !== undefined) return pendingProblems(reply["pending"]);
      return endings.includes(reply["vm"]) ? [] : ["has an unknown vm"];
    case "getMachineStatus":
    case "initializeMachine":
      return vmProblems(reply);
    case "listMachines":
      return listProblems(reply);
    case "findDrift":
      return driftProblems(reply);
    case "checkClass":
      return checkProblems(reply);
    case "getVolumeIds":
      return Array.isArray(reply["volumeIds"]) ? [] : ["has no volumeIds"];
    case "getNodeTemplate":
      return isRecord(reply["nodeTemplate"]) ? [] : ["has no nodeTemplate"];
    default:
      return [];
  }
}
