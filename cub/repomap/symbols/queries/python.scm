; Classes and functions wherever they are not local: definitions.py drops what a function holds.
(class_definition name: (identifier) @name body: (block) @body) @class
(function_definition name: (identifier) @name body: (block) @body) @function

; Names of the module, also those that stand below `if`, `try` and `with`.
(module (expression_statement (assignment
  left: (identifier) @name right: (_)? @body) @variable))
(module (expression_statement (assignment left: (pattern_list (identifier) @name @variable))))
(module (if_statement (block (expression_statement (assignment
  left: (identifier) @name right: (_)? @body) @variable))))
(module (if_statement (else_clause (block (expression_statement (assignment
  left: (identifier) @name right: (_)? @body) @variable)))))
(module (try_statement (block (expression_statement (assignment
  left: (identifier) @name right: (_)? @body) @variable))))
(module (try_statement (_ (block (expression_statement (assignment
  left: (identifier) @name right: (_)? @body) @variable)))))
(module (with_statement (block (expression_statement (assignment
  left: (identifier) @name right: (_)? @body) @variable))))

(type_alias_statement
  left: (type [(identifier) @name (generic_type (identifier) @name)]) right: (_) @value) @type
