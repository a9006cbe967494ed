import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { parseAllDocuments } from "yaml";
import { describe, expect, it } from "vitest";
import { classSchemaFiles } from "./class-schemas.ts";

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

describe.each([...classSchemaFiles()])("%s", (file, text) => {
  const provider = file.split("/")[1] ?? "";
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(JSON.parse(text) as object);
  const documents = parseAllDocuments(read(`examples/${provider}.yaml`)).map((each): unknown => each.toJS());

  it("is the published file, and a package contains it", () => {
    expect(read(file)).toBe(text);
    expect(JSON.parse(read(`providers/${provider}/package.json`))).toMatchObject({
      files: expect.arrayContaining(["machine-class.schema.json"]),
      exports: { "./machine-class.schema.json": "./machine-class.schema.json" },
    });
  });

  it("accepts the documents of the example", () => {
    for (const document of documents) expect([validate(document), validate.errors]).toEqual([true, null]);
  });

  it("rejects a class with a wrong type", () => {
    const machineClass = documents.find((each) => JSON.stringify(each).includes('"kind":"MachineClass"'));
    expect(validate({ ...(machineClass as object), providerSpec: [] })).toBe(false);
  });
});
