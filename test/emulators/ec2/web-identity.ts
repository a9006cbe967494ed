import type { EmulatorReply, Refusal } from "../server/index.ts";
import { issueCredentials } from "./issue-credentials.ts";
import type { Parameters } from "./parameters.ts";
import type { Ec2World } from "./world.ts";
import { type Xml, xmlOf } from "./xml.ts";

const namespace = "https://sts.amazonaws.com/doc/2011-06-15/";

const reply = (status: number, root: string, content: Xml): EmulatorReply => ({
  status,
  headers: { "content-type": "text/xml" },
  body: xmlOf(root, content, namespace),
});

/** The response of an error in STS's format. */
export const stsRefusal = ({ code, status = 400, message }: Refusal): EmulatorReply =>
  reply(status, "ErrorResponse", {
    Error: {
      Type: status < 500 ? "Sender" : "Receiver",
      Code: code,
      Message: message ?? `the emulator is configured to respond with ${code}`,
    },
    RequestId: "sts",
  });

const refuse = (code: string, message: string): EmulatorReply => stsRefusal({ code, message });

/** The one operation of STS. */
export const stsOperation = "AssumeRoleWithWebIdentity";

/**
 * `AssumeRoleWithWebIdentity` of STS, at the same address. The token `expired` is expired for every role; any other is compared with the one that the world has
 * for the role.
 */
export function assumeRoleWithWebIdentity(parameters: Parameters, world: Ec2World): EmulatorReply {
  const role = parameters.text("RoleArn") ?? "";
  const token = parameters.text("WebIdentityToken") ?? "";
  const session = parameters.text("RoleSessionName") ?? "";
  if (token === "expired") return refuse("ExpiredTokenException", "Token expired: current date/time must be before it");
  const known = world.webIdentities.get(role);
  if (known === undefined)
    return { ...refuse("AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"), status: 403 };
  if (known !== token) return refuse("InvalidIdentityToken", "The web identity token could not be validated");
  const issued = issueCredentials(world);
  return reply(200, "AssumeRoleWithWebIdentityResponse", {
    AssumeRoleWithWebIdentityResult: {
      Credentials: {
        AccessKeyId: issued.accessKeyId,
        SecretAccessKey: issued.secretAccessKey,
        SessionToken: issued.sessionToken,
        Expiration: issued.expiration,
      },
      AssumedRoleUser: { Arn: `${role}/${session}`, AssumedRoleId: `AROA:${session}` },
    },
    ResponseMetadata: { RequestId: "sts" },
  });
}
