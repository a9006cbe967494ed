import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { EmulatorRequest } from "../server/index.ts";
import { Ec2Refusal } from "./refusal.ts";
import type { Ec2World } from "./world.ts";

/** The signer and region of a request. */
export interface Signer {
  readonly accessKeyId: string;
  readonly region: string;
}

const header =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const sign = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

const textOf = (value: string | readonly string[] | undefined): string =>
  (typeof value === "string" ? value : (value ?? []).join(",")).trim().replaceAll(/ +/g, " ");

/** The unverified signer of a request; undefined without a signature. */
export function signerOf(request: Pick<EmulatorRequest, "headers">): Signer | undefined {
  const [, accessKeyId, , region] = header.exec(request.headers.authorization ?? "") ?? [];
  return accessKeyId === undefined || region === undefined ? undefined : { accessKeyId, region };
}

/** Greatest clock skew of signatures, milliseconds. */
const clockSkewMs = 5 * 60_000;

/**
 * Checks the signature of a request (AWS Signature Version 4) and returns the account. A world without access keys accepts any signature, but requires one.
 */
export function authenticate(request: EmulatorRequest, world: Ec2World): Signer & { readonly account: string } {
  const [, accessKeyId = "", day = "", region = "", service = "", names = "", signature = ""] =
    header.exec(request.headers.authorization ?? "") ?? [];
  if (accessKeyId === "") {
    throw new Ec2Refusal("MissingAuthenticationToken", "Request is missing Authentication Token", 403);
  }
  if (service !== "ec2") throw new Ec2Refusal("SignatureDoesNotMatch", "Credential should be scoped to service ec2");
  if (world.accessKeys === undefined) return { accessKeyId, region, account: "123456789012" };
  const key = world.accessKeys.get(accessKeyId);
  if (key === undefined) {
    throw new Ec2Refusal("AuthFailure", "AWS was not able to validate the provided access credentials");
  }
  const stamp = textOf(request.headers["x-amz-date"]);
  const canonicalHeaders = names.split(";").map((name) => `${name}:${textOf(request.headers[name])}\n`);
  const canonical = [
    request.method,
    request.url.pathname,
    request.url.search.slice(1),
    canonicalHeaders.join(""),
    names,
    hash(request.body),
  ].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", stamp, scope, hash(canonical)].join("\n");
  const signingKey = [region, service, "aws4_request"].reduce<Buffer>(
    (made, part) => sign(made, part),
    sign(`AWS4${key.secretAccessKey}`, day),
  );
  const wanted = sign(signingKey, toSign);
  if (!timingSafeEqual(wanted, Buffer.from(signature, "hex"))) {
    throw new Ec2Refusal(
      "SignatureDoesNotMatch",
      "The request signature we calculated does not match the signature you provided.",
    );
  }
  const signedAt = Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (Math.abs(signedAt - world.now().getTime()) > clockSkewMs) {
    throw new Ec2Refusal("RequestExpired", "Request has expired.");
  }
  if (key.sessionToken !== undefined && textOf(request.headers["x-amz-security-token"]) !== key.sessionToken) {
    throw new Ec2Refusal("AuthFailure", "AWS was not able to validate the provided access credentials");
  }
  if (key.expiresAtMs !== undefined && world.nowMs() > key.expiresAtMs) {
    throw new Ec2Refusal("RequestExpired", "The security token included in the request is expired");
  }
  return { accessKeyId, region, account: key.account };
}
