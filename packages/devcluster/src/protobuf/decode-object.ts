import { apiTime } from "@millwright/kube";
import { entriesOf, isObject, type Json, type JsonObject } from "../json/json.ts";
import { StatusError, badRequest } from "../errors/status-error.ts";
import { rfc3339Micro } from "../objects/timestamps.ts";
import type { FieldType, MessageType } from "./message-notation.ts";
import { messages } from "./message-table.ts";
import { readFields, type WireField } from "./wire.ts";

/** The media type of Kubernetes' protobuf envelope. */
export const protobufType = "application/vnd.kubernetes.protobuf";

const magic = Buffer.from("k8s\0", "latin1");
const depthLimit = 32;

/**
 * Decodes a body in Kubernetes' protobuf envelope (`k8s\0`, then runtime.Unknown) to the object of its JSON form. kubectl sends
 * built-in kinds in this form. Throws 415 for kinds that are not in the message table.
 */
export function decodeProtobufObject(body: Buffer): JsonObject {
  if (!body.subarray(0, magic.length).equals(magic)) throw badRequest("the protobuf body has no k8s envelope");
  let typeMeta: readonly WireField[] = [];
  let raw: Buffer = Buffer.alloc(0);
  for (const { number, value } of readFields(body.subarray(magic.length))) {
    if (number === 1 && Buffer.isBuffer(value)) typeMeta = readFields(value);
    else if (number === 2 && Buffer.isBuffer(value)) raw = value;
  }
  const text = (number: number): string => String(typeMeta.find((entry) => entry.number === number)?.value ?? "");
  const [apiVersion, kind] = [text(1), text(2)];
  // Deletion options have the group of the deleted object.
  const known = kind === "DeleteOptions" ? "v1.DeleteOptions" : `${apiVersion}.${kind}`;
  const type = Object.hasOwn(messages, known) ? messages[known] : undefined;
  if (type === undefined) {
    throw new StatusError(
      415,
      "UnsupportedMediaType",
      `${apiVersion} ${kind} is not read as protobuf here; send it as application/json`,
    );
  }
  return { apiVersion, kind, ...decodeMessage(raw, type, 0) };
}

function decodeMessage(bytes: Buffer, type: MessageType, depth: number): JsonObject {
  if (depth > depthLimit) throw badRequest("the protobuf body is nested too deep");
  const result = new Map<string, Json>();
  const lists = new Map<string, Json[]>();
  const maps = new Map<string, [string, Json][]>();
  for (const { number, value } of readFields(bytes)) {
    const field = type[number];
    if (field === undefined) continue;
    if (field.isInline === true) {
      for (const [key, inner] of entriesOf(decodeValue(value, field.type, depth))) result.set(key, inner);
      continue;
    }
    if (field.isMap === true) {
      const entries = maps.get(field.name) ?? [];
      maps.set(field.name, entries);
      entries.push(decodeEntry(value, field, depth));
    } else if (field.isRepeated === true) {
      const items = lists.get(field.name) ?? [];
      lists.set(field.name, items);
      items.push(decodeValue(value, field.type, depth));
    } else {
      const decoded = decodeValue(value, field.type, depth);
      // Protobuf contains every string, even the empty ones that JSON leaves out.
      const isZero = field.isOmittedWhenZero === true && (decoded === 0 || decoded === false);
      if (decoded !== "" && decoded !== null && !isZero && !isEmptyStruct(field.name, decoded)) {
        result.set(field.name, decoded);
      }
    }
  }
  for (const [name, entries] of maps) result.set(name, Object.fromEntries(entries));
  for (const [name, items] of lists) result.set(name, items);
  return Object.fromEntries(result);
}

function decodeEntry(value: Buffer | bigint, { type }: FieldType, depth: number): [string, Json] {
  let key = "";
  let content: Json = "";
  for (const part of readFields(bytesOf(value))) {
    if (part.number === 1) key = bytesOf(part.value).toString("utf8");
    else if (part.number === 2) content = decodeValue(part.value, type, depth);
  }
  return [key, content];
}

function decodeValue(value: Buffer | bigint, type: string, depth: number): Json {
  switch (type) {
    case "string":
      return bytesOf(value).toString("utf8");
    case "bytes":
      return bytesOf(value).toString("base64");
    case "int":
      return Number(BigInt.asIntN(64, numberOf(value)));
    case "bool":
      return numberOf(value) !== 0n;
    case "Time":
    case "MicroTime":
      return decodeTime(bytesOf(value), type === "Time" ? apiTime : rfc3339Micro);
    case "Quantity":
      return decodeQuantity(bytesOf(value));
    case "IntOrString":
      return decodeIntOrString(bytesOf(value));
    default:
      return decodeMessage(bytesOf(value), messages[type] ?? {}, depth + 1);
  }
}

function decodeTime(bytes: Buffer, write: (time: Date) => string): Json {
  let seconds: bigint | undefined;
  let nanos = 0n;
  for (const { number, value } of readFields(bytes)) {
    if (number === 1) seconds = BigInt.asIntN(64, numberOf(value));
    else if (number === 2) nanos = numberOf(value);
  }
  return seconds === undefined ? null : write(new Date(Number(seconds) * 1000 + Number(nanos) / 1e6));
}

function decodeIntOrString(bytes: Buffer): Json {
  const fields = new Map(readFields(bytes).map(({ number, value }) => [number, value]));
  if (numberOf(fields.get(1) ?? 0n) === 1n) return bytesOf(fields.get(3) ?? Buffer.alloc(0)).toString("utf8");
  return Number(BigInt.asIntN(64, numberOf(fields.get(2) ?? 0n)));
}

function decodeQuantity(bytes: Buffer): Json {
  const text = readFields(bytes).find(({ number }) => number === 1)?.value;
  return text === undefined ? "0" : bytesOf(text).toString("utf8");
}

/** Structs that Go writes although they are empty, and whose absence means the same. */
const writtenWhenEmpty: ReadonlySet<string> = new Set(["metadata", "strategy", "updateStrategy", "resources"]);

function isEmptyStruct(name: string, value: Json): boolean {
  return writtenWhenEmpty.has(name) && isObject(value) && Object.keys(value).length === 0;
}

function bytesOf(value: Buffer | bigint): Buffer {
  if (!Buffer.isBuffer(value)) throw badRequest("the protobuf body holds a number where bytes are expected");
  return value;
}

function numberOf(value: Buffer | bigint): bigint {
  if (typeof value !== "bigint") throw badRequest("the protobuf body holds bytes where a number is expected");
  return value;
}
