import type { AzureSpec } from "../spec/spec.ts";
import { isGiven, readUrn } from "../spec/storage.ts";
import type { MethodCall } from "../vm/method-call.ts";
import type { Finding } from "./finding.ts";

const at = "providerSpec.properties.storageProfile.imageReference";

/** Whether the image exists. Its terms, where it has some, are accepted with the first VM. */
export async function checkImage(
  { location, properties }: AzureSpec,
  { session, context }: MethodCall,
): Promise<Finding> {
  const { id, urn: text } = properties.storageProfile.imageReference;
  const urn = isGiven(text) ? readUrn(text) : undefined;
  if (urn !== undefined) {
    const image = await session.image(location, urn, context);
    if (image === undefined)
      return { status: "failed", message: `${at}.urn: there is no image "${text}" in ${location}.` };
    const terms =
      image.plan === undefined ? "" : ` The terms of plan "${image.plan.name}" are accepted with the first VM.`;
    return { status: "ok", message: `"${text}" exists in ${location}.${terms}` };
  }
  if (!isGiven(id)) return { status: "skipped", message: "Azure shows images of shared galleries only to VMs." };
  const type = /\/galleries\//i.test(id) ? "Microsoft.Compute/galleries" : "Microsoft.Compute/images";
  const image = await session.api.getResource(type, id, context.signal);
  return image === undefined
    ? { status: "failed", message: `${at}.id: there is no image "${id}".` }
    : { status: "ok", message: "The image exists." };
}
