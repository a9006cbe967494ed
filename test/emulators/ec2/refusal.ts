import { type EmulatorReply, EmulatorRefusal, type Refusal } from "../server/index.ts";
import { xmlOf } from "./xml.ts";

/** An error response of EC2. Thrown by actions before any change. */
export class Ec2Refusal extends EmulatorRefusal {}

/** Codes that do not come with status 400. */
const statuses: Readonly<Record<string, number>> = {
  AuthFailure: 401,
  DryRunOperation: 412,
  InsufficientAddressCapacity: 500,
  InsufficientCapacity: 500,
  InsufficientInstanceCapacity: 500,
  InsufficientVolumeCapacity: 500,
  InternalError: 500,
  InternalFailure: 500,
  RequestLimitExceeded: 503,
  ServiceUnavailable: 503,
  SignatureDoesNotMatch: 403,
  Unavailable: 503,
  UnauthorizedOperation: 403,
};

/** The response of an error in EC2's format. */
export function refusalReply({ code, status, message, retryAfterS }: Refusal, requestId: string): EmulatorReply {
  const error = { Code: code, Message: message ?? `the emulator is configured to respond with ${code}` };
  const body = xmlOf("Response", { Errors: { Error: error }, RequestID: requestId });
  return {
    status: status ?? statuses[code] ?? 400,
    headers: {
      "content-type": "text/xml;charset=UTF-8",
      "x-amzn-requestid": requestId,
      ...(retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) }),
    },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}`,
  };
}
