; What JavaScript and TypeScript have in common.
(program (function_declaration name: (identifier) @name body: (_) @body) @function)
(export_statement (function_declaration name: (identifier) @name body: (_) @body) @function)
(program (generator_function_declaration name: (identifier) @name body: (_) @body) @function)
(export_statement
  (generator_function_declaration name: (identifier) @name body: (_) @body) @function)
(program (class_declaration name: (_) @name body: (_) @body) @class)
(export_statement (class_declaration name: (_) @name body: (_) @body) @class)

; Functions and classes by their values, and everything else.
(program (lexical_declaration
  (variable_declarator name: (identifier) @name value: (_)? @value) @variable))
(program (variable_declaration
  (variable_declarator name: (identifier) @name value: (_)? @value) @variable))
(export_statement (lexical_declaration
  (variable_declarator name: (identifier) @name value: (_)? @value) @variable))
(export_statement (variable_declaration
  (variable_declarator name: (identifier) @name value: (_)? @value) @variable))

; a.b = …
(program (expression_statement (assignment_expression
  left: (member_expression object: (_) @of property: (property_identifier) @name)
  right: (_) @value) @assigned))

; module.exports = {a, b: c, d() {}}
(program (expression_statement (assignment_expression
  left: (member_expression) @of right: (object [
    (shorthand_property_identifier) @reveal
    (pair value: (identifier) @reveal)
  ]))))
(program (expression_statement (assignment_expression
  left: (member_expression) @of right: (object
    (method_definition name: (property_identifier) @name body: (_) @body) @property))))
(program (expression_statement (assignment_expression
  left: (member_expression) @of right: (object
    (pair key: (property_identifier) @name
      value: [(arrow_function) (function_expression)] @value) @property))))

; exports = module.exports = a, and var a = exports = module.exports = {}
(program (expression_statement (assignment_expression
  right: (assignment_expression left: (member_expression) @of right: (identifier) @reveal))))
(program (_ (variable_declarator name: (identifier) @reveal
  value: (assignment_expression left: (member_expression) @of))))
(program (_ (variable_declarator name: (identifier) @reveal
  value: (assignment_expression right: (assignment_expression left: (member_expression) @of)))))

(class_body (method_definition
  name: [(property_identifier) (private_property_identifier)] @name body: (_) @body) @method)

(program (export_statement) @export)
(export_statement !source (export_clause (export_specifier name: (identifier) @reveal)))
(export_statement value: (identifier) @reveal)
