import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isRecord } from "@millwright/base";

/** A field of a message. */
export interface ApiField {
  readonly type: string;
  readonly isRepeated: boolean;
  readonly isMap: boolean;
  /** Allowed texts; undefined for any. */
  readonly values: ReadonlySet<string> | undefined;
  readonly isRequired: boolean;
}

/** A message: a resource, a part of one, or a request. */
export interface ApiMessage {
  readonly name: string;
  readonly fields: ReadonlyMap<string, ApiField>;
  /** The message of a field's type; undefined for a scalar. */
  typeOf(field: ApiField): ApiMessage | undefined;
}

/** A method of a service, by HTTP. */
export interface ApiMethod {
  /** As in `instances.insert`. */
  readonly operation: string;
  readonly httpMethod: string;
  /** The names of its groups are those of fields of the request. */
  readonly path: RegExp;
  readonly request: ApiMessage;
  /** Field of the request that is the body; undefined without a body. */
  readonly body: string | undefined;
  readonly response: ApiMessage;
}

/** The API in its vendor's model. */
export interface ApiModel {
  /** By their operations. */
  readonly methods: ReadonlyMap<string, ApiMethod>;
}

const verbs = ["get", "post", "delete", "put", "patch"] as const;
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const recordOf = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});
const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1);
const upperFirst = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

type Descriptor = Readonly<Record<string, unknown>>;

/** Values of an enum except for the first, which means unset and is never sent. */
const valuesOf = (descriptor: Descriptor): ReadonlySet<string> =>
  new Set(Object.keys(recordOf(descriptor["values"])).filter((value) => !value.startsWith("UNDEFINED_")));

const isEnum = (descriptor: unknown): descriptor is Descriptor =>
  isRecord(descriptor) && isRecord(descriptor["values"]);

/** Reads messages on first use: there are thousands. */
function createMessages(types: Descriptor): (name: string, within?: Descriptor) => ApiMessage | undefined {
  const known = new Map<Descriptor, ApiMessage>();

  const messageOf = (name: string, within: Descriptor = types): ApiMessage | undefined => {
    const descriptor = within[name] ?? types[name];
    if (!isRecord(descriptor) || !isRecord(descriptor["fields"])) return undefined;
    const message = known.get(descriptor) ?? read(name, descriptor);
    known.set(descriptor, message);
    return message;
  };

  const read = (name: string, descriptor: Descriptor): ApiMessage => {
    const nested = recordOf(descriptor["nested"]);
    const fields = Object.entries(recordOf(descriptor["fields"])).map(([field, value]) => {
      const { type, rule, keyType, options } = recordOf(value);
      // Open enums are texts in the model; their values are listed under the name of the field.
      const values = [
        nested[textOf(type)],
        types[textOf(type)],
        type === "string" ? nested[upperFirst(field)] : undefined,
      ];
      const found = values.find(isEnum);
      return [
        field,
        {
          type: textOf(type),
          isRepeated: rule === "repeated",
          isMap: keyType !== undefined,
          values: found === undefined ? undefined : valuesOf(found),
          isRequired: recordOf(options)["(google.api.field_behavior)"] === "REQUIRED",
        },
      ] as const;
    });
    return { name, fields: new Map(fields), typeOf: (field) => messageOf(field.type, nested) };
  };
  return messageOf;
}

function readModel(types: Descriptor): ApiModel {
  const messageOf = createMessages(types);
  const methods = new Map<string, ApiMethod>();
  for (const [service, descriptor] of Object.entries(types)) {
    for (const [name, method] of Object.entries(recordOf(recordOf(descriptor)["methods"]))) {
      const { requestType, responseType, options } = recordOf(method);
      const http = recordOf(options);
      const verb = verbs.find((candidate) => textOf(http[`(google.api.http).${candidate}`]) !== "");
      const request = messageOf(textOf(requestType));
      const response = messageOf(textOf(responseType));
      if (verb === undefined || request === undefined || response === undefined) continue;
      const template = textOf(http[`(google.api.http).${verb}`]);
      const body = textOf(http["(google.api.http).body"]);
      const operation = `${lowerFirst(service)}.${lowerFirst(name)}`;
      methods.set(operation, {
        operation,
        httpMethod: verb.toUpperCase(),
        path: new RegExp(
          `^${template.replaceAll(/\{(\w+)\}/g, (_, group: string) => `(?<${camelCase(group)}>[^/]+)`)}$`,
        ),
        request,
        body: body === "" ? undefined : camelCase(body),
        response,
      });
    }
  }
  return { methods };
}

let model: ApiModel | undefined;

/** The model of Compute Engine's REST API v1 that `@google-cloud/compute` ships. Reads 12 MB on first use. */
export function computeModel(): ApiModel {
  if (model === undefined) {
    const path = createRequire(import.meta.url).resolve("@google-cloud/compute/build/protos/protos.json");
    let at: Descriptor = recordOf(JSON.parse(readFileSync(path, "utf8")));
    for (const part of ["google", "cloud", "compute", "v1"]) at = recordOf(recordOf(at["nested"])[part]);
    model = readModel(recordOf(at["nested"]));
  }
  return model;
}
