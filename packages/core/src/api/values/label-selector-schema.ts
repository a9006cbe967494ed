import * as z from "zod";
import type { DeepReadonly } from "../schema/deep-readonly.ts";
import { atomicList, text, textMap } from "../schema/fields.ts";

const requirementSchema = z.object({
  key: text("Label key."),
  operator: text("In, NotIn, Exists or DoesNotExist."),
  values: atomicList(z.string(), "Values for In and NotIn; empty for Exists and DoesNotExist.").exactOptional(),
});

/** Schema of a label selector. `description` names what it selects. */
export const labelSelectorSchema = (description: string) =>
  z
    .object({
      matchExpressions: atomicList(requirementSchema, "Requirements that all hold.").exactOptional(),
      matchLabels: textMap("Labels that all must be there with these values.").exactOptional(),
    })
    .meta({ description, "x-kubernetes-map-type": "atomic" });

/** One requirement of a selector. */
export type LabelSelectorRequirement = DeepReadonly<z.infer<typeof requirementSchema>>;

/** A selection by labels; an empty one selects everything. */
export type LabelSelector = DeepReadonly<z.infer<ReturnType<typeof labelSelectorSchema>>>;
