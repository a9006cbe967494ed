import type { RequestAttributes } from "../request/request-attributes.ts";
import type { FaultMatch } from "./fault.ts";

/** Whether a fault affects a request. It never affects paths of the server itself (`/millwright`, `/metrics`). */
export function matchesRequest(match: FaultMatch | undefined, request: RequestAttributes): boolean {
  if (match === undefined) return true;
  const { verbs, resources, namespaces, names, userAgent, headers } = match;
  const resource = request.subresource === "" ? request.resource : `${request.resource}/${request.subresource}`;
  return (
    (verbs === undefined || verbs.includes(request.verb)) &&
    (resources === undefined || resources.includes(resource)) &&
    (namespaces === undefined || namespaces.includes(request.namespace)) &&
    (names === undefined || names.includes(request.name)) &&
    (userAgent === undefined || request.userAgent.includes(userAgent)) &&
    Object.entries(headers ?? {}).every(([name, value]) => request.headers[name.toLowerCase()] === value)
  );
}
