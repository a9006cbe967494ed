import { stringAt } from "../json/json.ts";
import { ageText } from "../objects/timestamps.ts";
import type { Column } from "./resource-definition.ts";

/** Kubernetes' descriptions of the columns that every table has. */
const nameDescription =
  "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client " +
  "to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and " +
  "configuration definition. Cannot be updated. More info: " +
  "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
const createdDescription =
  "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be " +
  "set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 " +
  "form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: " +
  "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

export const nameColumn: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description: nameDescription,
  cell: (object) => stringAt(object, "metadata", "name") ?? "",
};

export const ageColumn: Column = {
  name: "Age",
  type: "string",
  description: createdDescription,
  cell: (object, now) => ageText(stringAt(object, "metadata", "creationTimestamp"), now),
};
