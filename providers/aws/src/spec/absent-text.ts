import * as z from "zod";

/**
 * A field of texts that may be absent, where an empty text means the same: the structs of MCM's driver are read by Go, which does not distinguish the two unless the field is a pointer
 * (machine-controller-manager-provider-aws, `pkg/aws/apis/aws_provider_spec.go`).
 */
export const optionalText = <Text extends z.ZodType<string>>(text: Text) =>
  z.preprocess((value) => (value === "" ? undefined : value), text.optional()).optional();
