; What script.scm lacks of JavaScript: TypeScript has another name for fields.
(class_body (field_definition property: [(property_identifier) (private_property_identifier)] @name
  value: [(arrow_function) (function_expression)] @value) @field)
