(class_declaration declaration_kind: ["class" "actor"]
  name: (type_identifier) @name body: (class_body) @body) @class
(class_declaration declaration_kind: "struct"
  name: (type_identifier) @name body: (class_body) @body) @struct
(class_declaration declaration_kind: "enum"
  name: (type_identifier) @name body: (enum_class_body) @body) @enum
(class_declaration declaration_kind: "extension"
  name: (user_type (type_identifier) @name .) body: (class_body)) @extension
(protocol_declaration name: (type_identifier) @name body: (protocol_body) @body) @interface
((function_declaration) @function (#set! fields ""))
(protocol_function_declaration name: (simple_identifier) @name) @function
(property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name @until)
  (type_annotation)? @until) @variable
(protocol_property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name @until)
  (type_annotation)? @until) @variable
(typealias_declaration name: (type_identifier) @name) @type
