import { MachineError } from "@millwright/core";
import { toMachineError } from "../api/errors.ts";
import type { Plan } from "../api/requests.ts";
import type { AzureSpec } from "../spec/spec.ts";
import { type ImageReference, readUrn } from "../spec/storage.ts";
import type { MethodCall } from "../vm/method-call.ts";

/** The plan of the image of a class, with its terms accepted; undefined for an image without one, and if the class disables the lookup. */
export async function planOf(
  { location }: AzureSpec,
  { urn: text = "", skipMarketplaceAgreement }: ImageReference,
  { session, context }: MethodCall,
): Promise<Plan | undefined> {
  const urn = readUrn(text);
  if (urn === undefined || skipMarketplaceAgreement) return undefined;
  const image = await session.image(location, urn, context);
  if (image === undefined) {
    throw new MachineError(
      "InvalidArgument",
      `providerSpec.properties.storageProfile.imageReference.urn: there is no image "${text}" in ${location}`,
    );
  }
  const { plan } = image;
  if (plan === undefined) return undefined;
  try {
    await session.acceptTerms(plan, context);
  } catch (error) {
    throw toMachineError(error, context.signal, `accepting the terms of image "${text}"`);
  }
  return { name: plan.name, product: plan.product, publisher: plan.publisher };
}
