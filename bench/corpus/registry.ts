import type { JsonObject } from "../../src/contract/json.ts";

/** The nth model of a block. */
export function model(id: string, index: number): JsonObject {
  const notes = Array.from({ length: 12 }, (_, nth) => [
    `measure_${nth}`,
    `0.${900 + nth + index} on split ${nth % 3}`,
  ]);
  return {
    type: "model-version",
    name: `model_${id}_${index}`,
    ml_repo: `repo-${id}`,
    description: `Ranking model ${index} of block ${id}.\nTrained nightly; see the card for its limits.`,
    metadata: { ...Object.fromEntries(notes), seed: 42 + index, reviewed: true },
    source: { type: "external", uri: `s3://bench-models/${id}/${index}/model.safetensors` },
    framework: {
      type: "transformers",
      library_name: "transformers",
      pipeline_tag: "text-classification",
      base_model: "distilbert-base-uncased",
    },
    environment: {
      python_version: "3.12",
      pip_packages: ["torch==2.8.0", "transformers==4.57.1", "numpy==2.3.4", "safetensors==0.6.2"],
    },
    step: index * 1000,
  };
}

/** The nth prompt of a block. */
export function prompt(id: string, index: number): JsonObject {
  const rules = Array.from({ length: 10 }, (_, nth) => `- Rule ${nth + 1}: answer in at most ${20 + nth} words.`);
  return {
    type: "chat_prompt",
    name: `prompt_${id}_${index}`,
    ml_repo: `repo-${id}`,
    description: `Support prompt ${index} of block ${id}`,
    messages: [
      { role: "system", content: `You answer questions about {{product}}.\n${rules.join("\n")}\n` },
      { role: "user", content: "{{question}}" },
    ],
    variables: { product: "the platform", question: "" },
    model_configuration: {
      provider: "bench-gateway",
      model: `chat-large-${index % 3}`,
      parameters: { max_tokens: 512 + index, temperature: 0.2, top_p: 0.9, stop: ["END", "###"] },
      extra_parameters: { safety: { level: "strict" } },
    },
    tools: [
      {
        type: "function",
        function: {
          name: "look_up_order",
          description: "Looks up an order by its number",
          parameters: { type: "object", properties: { number: { type: "string" } }, required: ["number"] },
          strict: true,
        },
      },
    ],
    response_format: { type: "json_object" },
  };
}
