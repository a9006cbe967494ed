import { expect, test } from "vitest";
import { decodeProtobufObject } from "./decode-object.ts";

/** `kubectl create configmap c --from-literal=a=b` as client-go sends it. */
function field(number: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([tag(number, 2), Buffer.from([bytes.length]), bytes]);
}

function tag(number: number, wireType: number): Buffer {
  const value = number * 8 + wireType;
  return value < 128 ? Buffer.from([value]) : Buffer.from([(value % 128) | 0x80, Math.floor(value / 128)]);
}

function envelope(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const typeMeta = Buffer.concat([field(1, apiVersion), field(2, kind)]);
  return Buffer.concat([Buffer.from("k8s\0"), field(1, typeMeta), field(2, raw), field(3, ""), field(4, "")]);
}

test("decodes a ConfigMap to its JSON form", () => {
  const metadata = Buffer.concat([field(1, "c"), field(3, ""), field(8, "")]);
  const entry = Buffer.concat([field(1, "a"), field(2, "b")]);
  const raw = Buffer.concat([field(1, metadata), field(2, entry)]);
  expect(decodeProtobufObject(envelope("v1", "ConfigMap", raw))).toEqual({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c" },
    data: { a: "b" },
  });
});

test("reads the bytes of secrets as base64", () => {
  const entry = Buffer.concat([field(1, "k"), field(2, Buffer.from([0, 255]))]);
  expect(decodeProtobufObject(envelope("v1", "Secret", field(2, entry)))).toMatchObject({ data: { k: "AP8=" } });
});

test("embeds what Go embeds, and leaves out zeros that Go leaves out", () => {
  const number = (place: number, value: number): Buffer => Buffer.concat([tag(place, 0), Buffer.from([value])]);
  const volumes = [
    Buffer.concat([field(1, "a"), field(2, field(2, ""))]),
    Buffer.concat([field(1, "b"), field(2, field(19, Buffer.concat([field(1, field(1, "settings")), number(3, 0)])))]),
  ];
  const container = Buffer.concat([
    field(1, "c"),
    field(2, "image"),
    number(16, 0),
    field(8, field(1, Buffer.concat([field(1, "cpu"), field(2, field(1, "500m"))]))),
  ]);
  const spec = Buffer.concat([...volumes.map((volume) => field(1, volume)), field(2, container), number(4, 0)]);
  expect(decodeProtobufObject(envelope("v1", "Pod", field(2, spec)))).toEqual({
    apiVersion: "v1",
    kind: "Pod",
    spec: {
      volumes: [
        { name: "a", emptyDir: {} },
        { name: "b", configMap: { name: "settings", defaultMode: 0 } },
      ],
      containers: [{ name: "c", image: "image", resources: { limits: { cpu: "500m" } } }],
      terminationGracePeriodSeconds: 0,
    },
  });
});

test("reports that an unknown kind must be sent as JSON", () => {
  expect(() => decodeProtobufObject(envelope("batch/v1", "Job", Buffer.alloc(0)))).toThrow(
    "batch/v1 Job is not read as protobuf here; send it as application/json",
  );
});

test("rejects truncated bytes and other envelopes", () => {
  const whole = envelope("v1", "ConfigMap", field(1, field(1, "c")));
  expect(() => decodeProtobufObject(whole.subarray(0, whole.length - 6))).toThrow("ends in the middle of a field");
  expect(() => decodeProtobufObject(Buffer.from("{}"))).toThrow("no k8s envelope");
  expect(() => decodeProtobufObject(envelope("v1", "ConfigMap", Buffer.from([10, 200])))).toThrow(
    "ends in the middle of a field",
  );
});
