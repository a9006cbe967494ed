import { badRequest } from "../errors/status-error.ts";

/** A field on the wire: a number for varints and fixed widths, bytes for length-delimited ones. */
export interface WireField {
  readonly number: number;
  readonly value: Buffer | bigint;
}

/** Reads the fields of a protobuf message in order. Throws 400 when the bytes end early. */
export function readFields(bytes: Buffer): readonly WireField[] {
  const fields: WireField[] = [];
  let offset = 0;
  const varint = (): bigint => {
    let result = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[offset];
      if (byte === undefined) throw truncated();
      offset += 1;
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return result;
    }
    throw badRequest("the protobuf body holds a number that is too long");
  };
  const take = (length: number): Buffer => {
    if (offset + length > bytes.length) throw truncated();
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  while (offset < bytes.length) {
    const tag = Number(varint());
    const number = Math.trunc(tag / 8);
    switch (tag % 8) {
      case 0:
        fields.push({ number, value: varint() });
        break;
      case 1:
        fields.push({ number, value: take(8).readBigUInt64LE() });
        break;
      case 2:
        fields.push({ number, value: take(Number(varint())) });
        break;
      case 5:
        fields.push({ number, value: BigInt(take(4).readUInt32LE()) });
        break;
      default:
        throw badRequest("the protobuf body holds an unknown wire type");
    }
  }
  return fields;
}

function truncated(): Error {
  return badRequest("the protobuf body ends in the middle of a field");
}
