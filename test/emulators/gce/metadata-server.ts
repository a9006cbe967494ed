import type { EmulatorReply, EmulatorRequest } from "../server/index.ts";
import { issueToken } from "./access-tokens.ts";
import { jsonReply } from "./refusal.ts";
import type { GceWorld } from "./world.ts";

/** Paths of the metadata server. */
export const metadataPaths = {
  token: "/computeMetadata/v1/instance/service-accounts/default/token",
  project: "/computeMetadata/v1/project/project-id",
} as const;

/** The header of requests and responses that identifies the metadata server. */
const flavor = { "metadata-flavor": "Google" } as const;

const text = (status: number, body: string, contentType: string): EmulatorReply => ({
  status,
  headers: { ...flavor, "content-type": contentType },
  body,
});

/** The error page of the metadata server for missing values. */
const refusal = (status: number, title: string): EmulatorReply =>
  text(status, `<!DOCTYPE html><html><title>Error ${status} (${title})!!1</title></html>`, "text/html; charset=UTF-8");

/** The metadata server of the calling VM or pod. */
export function answerMetadata({ url, headers }: EmulatorRequest, world: GceWorld): EmulatorReply {
  if (headers["metadata-flavor"] !== flavor["metadata-flavor"]) return refusal(403, "Forbidden");
  const { metadata } = world.options;
  if (metadata === undefined) return refusal(404, "Not Found");
  if (url.pathname === metadataPaths.project) return text(200, metadata.project, "application/text");
  if (metadata.serviceAccount === undefined) return refusal(404, "Not Found");
  const { token, expiresInS } = issueToken(world, metadata.serviceAccount);
  return jsonReply(200, { access_token: token, expires_in: expiresInS, token_type: "Bearer" }, flavor);
}
