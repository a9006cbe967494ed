import type { EmulatorReply, EmulatorRequest, Exchange } from "../../server/index.ts";
import { isRecord } from "@millwright/base";
import { type ApiMessage, type ApiMethod, computeModel } from "./api-model.ts";
import { checkMessage, type Report } from "./check-message.ts";
import { isKnownDifference } from "./known-differences.ts";

/** Services at the same address that are not in the model of Compute Engine. */
const otherServices = ["oauth2.", "sts.", "iamcredentials.", "metadata.", "cloudresourcemanager."];

/**
 * Differences of a request or response from the model of Compute Engine in `@google-cloud/compute`, and from the formats of texts in the API reference: unknown fields and parameters, types, values of enums,
 * required fields, addresses of resources, errors in another format.
 */
export function findDifferences({ operation, request, reply }: Exchange): readonly string[] {
  if (otherServices.some((service) => operation.startsWith(service))) return [];
  const method = computeModel().methods.get(operation);
  if (method === undefined) return [`${request.method} ${request.url.pathname} is not a method of Compute Engine`];
  const differences: string[] = [];
  const reportTo =
    (side: string): Report =>
    (path, difference) => {
      if (!isKnownDifference(operation, `${side} ${path}`)) differences.push(`${side} ${path}: ${difference}`);
    };
  const place = checkRequest(method, request, reportTo("request"));
  if (reply !== undefined) checkReply(method, reply, place, reportTo("answer"));
  return differences;
}

interface Place {
  readonly project: string;
  readonly zone: string;
}

/** Compares path, parameters and body with the message of the request, of which they are parts. */
function checkRequest(method: ApiMethod, request: EmulatorRequest, report: Report): Place {
  const { pathname, searchParams } = request.url;
  const groups = method.path.exec(pathname)?.groups;
  if (request.method !== method.httpMethod || groups === undefined) {
    report("", `${request.method} ${pathname} is not ${method.httpMethod} ${method.path.source}`);
    return { project: "", zone: "" };
  }
  const inPath = Object.fromEntries(Object.entries(groups).map(([field, text]) => [field, decodeURIComponent(text)]));
  const { project = "", zone = "" } = inPath;
  const parameters: [string, unknown][] = [];
  for (const [field, text] of searchParams) {
    if (Object.hasOwn(inPath, field) || field === method.body) report(field, "is not a parameter of the query");
    else parameters.push([field, parameterOf(method.request, field, text)]);
  }
  const whole: Record<string, unknown> = { ...inPath, ...Object.fromEntries(parameters) };
  if (method.body !== undefined) whole[method.body] = jsonOf(request.body, report);
  else if (request.body !== "" && request.body !== "{}")
    report("", `must not have a body: ${request.body.slice(0, 80)}`);
  checkMessage(method.request, whole, "", { report, isRequest: true, project, zone });
  return { project, zone };
}

/** A parameter as JSON would have it. */
function parameterOf({ fields }: ApiMessage, field: string, text: string): unknown {
  const type = fields.get(field)?.type ?? "string";
  if (type === "bool" && /^(true|false)$/.test(text)) return text === "true";
  return /^u?int/.test(type) && /^-?\d+$/.test(text) ? Number(text) : text;
}

function checkReply(
  { response }: ApiMethod,
  { status, body, headers }: EmulatorReply,
  place: Place,
  report: Report,
): void {
  if (!(headers?.["content-type"] ?? "").startsWith("application/json")) report("", "must be JSON");
  const json = jsonOf(body, report);
  if (status >= 200 && status < 300) checkMessage(response, json, "", { report, isRequest: false, ...place });
  else checkError(status, json, report);
}

/** The form of errors: https://cloud.google.com/apis/design/errors, with `errors` as Compute Engine has it (`google.rpc.Status` in JSON). */
function checkError(status: number, json: unknown, report: Report): void {
  const error = isRecord(json) ? json["error"] : undefined;
  if (!isRecord(error)) return report("error", "must be an object");
  if (error["code"] !== status) report("error.code", `must be the status ${status}`);
  if (typeof error["message"] !== "string" || error["message"] === "") report("error.message", "must be a text");
  const errors: unknown = error["errors"];
  if (!Array.isArray(errors) || errors.length === 0) return report("error.errors", "must be a list");
  for (const [index, one] of errors.entries()) {
    for (const field of ["message", "domain", "reason"]) {
      if (!isRecord(one) || typeof one[field] !== "string") report(`error.errors[${index}].${field}`, "must be a text");
    }
  }
}

function jsonOf(text: string, report: Report): unknown {
  try {
    return JSON.parse(text);
  } catch {
    report("", "is not JSON");
    return {};
  }
}
